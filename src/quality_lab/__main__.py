"""`python -m quality_lab` is `quality-lab`."""

from quality_lab.cli import main

if __name__ == "__main__":
    main()
