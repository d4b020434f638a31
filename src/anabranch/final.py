"""The choice of an action after a search, `Search(final=...)`, and noise on the root before it, `Search(noise=...)`. A choice
of your own: `choose`."""

from anabranch.search.results.final import ByGumbel as ByGumbel
from anabranch.search.results.final import ByLowerBound as ByLowerBound
from anabranch.search.results.final import ByRegularized as ByRegularized
from anabranch.search.results.final import ByTemperature as ByTemperature
from anabranch.search.results.final import ByValue as ByValue
from anabranch.search.results.final import Candidates as Candidates
from anabranch.search.results.final import Dirichlet as Dirichlet
from anabranch.search.results.final import MostVisits as MostVisits
from anabranch.search.results.final import choose as choose
from anabranch.search.results.final import wants_errors as wants_errors
