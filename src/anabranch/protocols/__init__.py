"""What Go programs and files speak with one another: see docs/protocols.md.

sgf.py       game records: read, write; `sgf_tree.py` is what they are in memory, `sgf_go.py` what their properties mean, and
             `sgf_grammar.py` their text
gtp.py       the Go Text Protocol: a session; `gtp_words.py` are its lines, and the table of commands that `gtp_commands.py`,
             `gtp_extensions.py` and `gtp_analysis.py` fill
analysis.py  KataGo's analysis protocol, JSON lines; `queries.py` reads requests
engine.py    the player behind GTP: the game so far, the search that follows it, and when to resign; with `clock.py` for time,
             `passing.py` for passing and cleaning up, and `endgame.py` for what is settled
review.py    a game gone through again; `review_chart.py` draws what was found, `review_sgf.py` writes it into the record
turns.py, estimate.py, live.py, kata_rules.py    shared: positions for any player to move, ownership and points by
             playouts, reports of a search that runs, rules as KataGo writes them
"""
