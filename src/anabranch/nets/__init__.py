"""Networks as evaluators of leaves, instead of playouts.

    network.py   `Network`, the face: states in, priors and values out    cache.py     cached evaluations
    runtimes.py  the model: an ONNX file, or a PyTorch module             outputs.py   logits to priors, values to returns
    model.py     a network for any game, and its export                   augment.py   training data through all symmetries
    speed.py     how fast a network is, by batch and threads              shared_network.py   one network for many games at once
    katago/      KataGo's networks, from its own files

The game defines how a position becomes planes: `games/encoding.py`. onnxruntime and torch are imported when first needed.
"""
