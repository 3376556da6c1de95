"""FlashInfer's names: which fictl has, and a package that gives them to `import flashinfer`."""

COMMANDS = ("list", "wheel")
