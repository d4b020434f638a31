"""Asking an analysis server in this process: all at once (`answers_to`), or line by line (`Client`)."""

import io
import json
import queue
import threading
from dataclasses import replace

from anabranch.protocols.analysis import Server
from tests.protocols.talk import OPTIONS, PATIENCE

GOOD = {"id": "foo", "moves": [["B", "E5"], ["W", "C3"]], "rules": "chinese", "komi": 7.5, "boardXSize": 9, "boardYSize": 9}


def answers_to(*requests, **options):
    """All answers to these requests, in the order in which they came."""
    out = io.StringIO()
    text = [request if isinstance(request, str) else json.dumps(request) for request in requests]
    Server(replace(OPTIONS, visits=30), [line + "\n" for line in text], out, **options).run()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def answer_to(request, **options):
    (answer,) = answers_to(request, **options)
    return answer


class Client:
    """Sends requests and reads answers, line by line."""

    def __init__(self, threads=2, **changes):
        self._lines, self._heard = queue.SimpleQueue(), queue.SimpleQueue()
        options = replace(OPTIONS, **{"visits": 50, **changes})
        self.server = Server(options, iter(self._lines.get, None), self, threads=threads)
        self._thread = threading.Thread(target=self.server.run, daemon=True)
        self._thread.start()

    def write(self, text):
        self._heard.put(json.loads(text))

    def flush(self):
        pass

    def send(self, *requests):
        for request in requests:
            self._lines.put(json.dumps(request))

    def read(self):
        return self._heard.get(timeout=PATIENCE)

    def final(self):
        """The next answer that is not a report from a search that goes on."""
        while (answer := self.read()).get("isDuringSearch"):
            pass
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._lines.put(json.dumps({"id": "end", "action": "terminate_all"}))
        self._lines.put(None)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
