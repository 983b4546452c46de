"""`python -m loopcore`: the command line."""

from loopcore.cli import main

if __name__ == "__main__":
    main()
