"""Networks as evaluators: what a search asks when leaves are not played out.

    network.py   `Network`, the face: states in, priors and values out    cache.py     what was evaluated before
    runtimes.py  what computes: an ONNX file, or a module of PyTorch      outputs.py   logits to priors, values to returns
    model.py     a network for any game, and its export                   augment.py   training data through all symmetries
    speed.py     how fast a network is, by batch and threads              shared_network.py   one network for many games at once
    katago/      KataGo's networks, from its own files

How a position becomes planes is the game's: `games/encoding.py`. onnxruntime and torch are imported when they are first needed.
"""
