import type { JsonObject } from '../../lib/core/json/json.ts'
import { mayHaveFiles } from '../../lib/schema/files/file-schema.ts'
import { replaceFiles } from '../schema/form/file-field.tsx'
import { printJson, valueNode } from '../schema/json-edit.ts'
import { tryParseTree } from '../schema/json-node.ts'

/** An input that may be stored. `hadFiles`: what it had of files is left out. */
export type StorableText = { text: string; hadFiles: boolean }

/** An input without the contents of its files. Null if it is not JSON: then nobody knows whether there are any. */
export function stripFiles(text: string, schema: JsonObject): StorableText | null {
  if (!mayHaveFiles(schema)) return { text, hadFiles: false }
  const root = tryParseTree(text)
  if (!root) return null
  let hadFiles = false
  const stripped = replaceFiles(root, () => {
    hadFiles = true
    return undefined
  })
  return hadFiles ? { text: printJson(stripped ?? valueNode(null)), hadFiles } : { text, hadFiles }
}
