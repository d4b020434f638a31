"""What Go programs and files speak with one another.

sgf.py    game records: read, write; `sgf_tree.py` is what they are in memory, `sgf_go.py` what their properties mean, and
          `sgf_grammar.py` their text
"""
