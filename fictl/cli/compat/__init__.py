"""FlashInfer's names: which fictl has, and a package that gives them to `import flashinfer`."""

COMMANDS = {
    "list": "List FlashInfer's public names: served, planned, refused",
    "wheel": "Write a package that gives these names to engines",
}
