"""KataGo's networks, read from its own model files (versions 8 to 17) and run by ONNX Runtime.

    file.py       `read_network`: a file to a network as plain data      source.py    words and weights, with little memory
    layers.py     what a network consists of                             file_layers.py   layers and blocks in files
    graph.py      `build_graph`: the network as an ONNX graph            graph_layers.py, graph_blocks.py, nodes.py   its parts
    model.py      `KataGoModel`: a file, ready to compute                symmetry.py  boards seen from other sides
    inputs.py     planes and globals of positions                        ladders.py, ladder_board.py, areas.py   parts of them
    outputs.py    priors, chances and points                             columns.py   what is kept of them
    evaluator.py  `KataGoNet`: all that as an evaluator                  profiles.py  whose moves a human-like network predicts
    search.py     `KataGoSearch`: KataGo's defaults                      utility.py, averages.py   what it plays for and finds

A second implementation in plain NumPy, tests/reference/katago_net.py, is what the graph is compared with.
"""
