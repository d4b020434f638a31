"""The choice of an action after a search, `Search(final=...)`, and noise on the root before it, `Search(noise=...)`. A choice
of your own: `choose`."""

from anabranch.search.results.final import *
