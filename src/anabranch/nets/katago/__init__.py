"""KataGo's networks, read from its own model files (versions 8 to 17) and run by ONNX Runtime.

    file.py      `read_network`: a file to a network as plain data       source.py    words and weights, with little memory
    layers.py    what a network consists of                              file_layers.py   layers and blocks in files
    graph.py     `build_graph`: the network as an ONNX graph             graph_layers.py, graph_blocks.py, nodes.py   its parts
    model.py     `KataGoModel`: a file, ready to compute                 outputs.py   `read_policy`, `read_values`
    symmetry.py  boards seen from other sides                            profiles.py  whose moves a human-like network predicts

A second implementation in plain NumPy, tests/reference/katago_net.py, is what the graph is compared with.
"""
