import type { Plugin } from 'prettier'
import { parsers, printers } from 'prettier/plugins/markdown'

const printer = printers.mdast

/** Leaves tables as they are written: Prettier would pad every cell to the width of the widest one of its column. */
export default {
  parsers: { markdown: parsers.markdown }, // Prettier takes the printer from the plugin of the parser.
  printers: {
    mdast: {
      ...printer,
      print: (path, options, ...rest) =>
        path.node.type === 'table'
          ? options.originalText.slice(path.node.position.start.offset, path.node.position.end.offset)
          : printer.print(path, options, ...rest),
    },
  },
} satisfies Plugin
