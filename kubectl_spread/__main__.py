"""`python -m kubectl_spread`."""

from kubectl_spread.cli.main import main

if __name__ == "__main__":
    main()
