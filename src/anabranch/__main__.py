"""`python -m anabranch` is the program."""

from anabranch.cli import main

main()
