import type { JsonObject } from '../../lib/core/json/json.ts'
import { mayHaveFiles } from '../../lib/schema/files/file-schema.ts'
import { fileOf } from '../schema/form/file-field.tsx'
import { printJson } from '../schema/json-edit.ts'
import { type JsonNode, tryParseTree } from '../schema/json-node.ts'

/** An input that may be stored. `hadFiles`: what it had of files is left out. */
export type StorableText = { text: string; hadFiles: boolean }

/** An input without the contents of its files. Null if it is not JSON: then nobody knows whether there are any. */
export function stripFiles(text: string, schema: JsonObject): StorableText | null {
  if (!mayHaveFiles(schema)) return { text, hadFiles: false }
  const root = tryParseTree(text)
  if (!root) return null
  let hadFiles = false
  const stripped = strip(root, () => {
    hadFiles = true
  })
  return hadFiles ? { text: printJson(stripped ?? NULL), hadFiles } : { text, hadFiles }
}

const NULL: JsonNode = { type: 'null', start: 0, end: 0 }

/** Undefined for a file. In a list, it becomes null: the other items keep their places. */
function strip(node: JsonNode, onFile: () => void): JsonNode | undefined {
  if (node.type === 'array') return { ...node, items: node.items.map((item) => strip(item, onFile) ?? NULL) }
  if (node.type !== 'object') return node
  if (fileOf(node)) {
    onFile()
    return undefined
  }
  const members = node.members.flatMap((member) => {
    const value = strip(member.value, onFile)
    return value ? [{ ...member, value }] : []
  })
  return { ...node, members }
}
