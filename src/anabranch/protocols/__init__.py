"""How other programs and files talk to us: see docs/protocols.md. The engine that answers is in `goengine/`.

sgf.py         game records: read, write; `sgf_go.py` is what their properties mean, `sgf_grammar.py` their text
gtp.py         the Go Text Protocol: a session; `gtp_words.py` are its lines, and the table of commands that
               `gtp_commands.py`, `gtp_extensions.py` and `gtp_analysis.py` fill; `info_lines.py` are lines of live analysis
analysis.py    KataGo's analysis protocol, JSON lines; `queries.py` reads requests
kata_rules.py  rules as KataGo writes them
lines.py       input by lines, in bounded memory
"""
