import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument as parseYaml } from 'yaml'
import { isSlug } from '../core/ids.ts'
import { type AgentDocument, documentSchema } from './document.ts'
import { explainIssue } from './explain-issue.ts'

/** Something wrong in a document: where (a line of the file, a dotted field) and what. */
export type DocumentProblem = { line: number; field: string; message: string }

export type ParsedDocument =
  | { document: AgentDocument; problems: []; lineOf: LineFinder }
  | { document: null; problems: DocumentProblem[] }

/** The line on which a field of the front matter stands; of its nearest enclosing field when it is not there itself. */
export type LineFinder = (path: PropertyKey[]) => number

/** Not anchored with ^ at its start: under the m flag that is every line's. */
const FRONT_MATTER = /(?<![\s\S])---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m
const WHOLE = 'front matter'

/**
 * Reads an `agent.md`: YAML front matter between two `---` lines, then the instructions.
 * @param defaultSlug the folder's name, used when the document names no slug
 */
export function parseDocument(text: string, defaultSlug: string): ParsedDocument {
  const match = FRONT_MATTER.exec(text)
  if (!match) return refused(1, WHOLE, 'must begin the file, between two lines of "---"')
  const lines = new LineCounter()
  const yaml = parseYaml(match[1] ?? '', { lineCounter: lines, prettyErrors: false })
  const lineAt = (offset: number) => lines.linePos(offset).line + 1
  if (yaml.errors.length > 0) return notYaml(yaml, lineAt)
  const values = toValues(yaml)
  if (values instanceof Error) return refused(1, WHOLE, `cannot be used: ${values.message}`)

  const lineOf: LineFinder = (path) => lineAt(offsetOf(yaml, path))
  const result = documentSchema.safeParse(values, { reportInput: true })
  const slug = result.data?.slug ?? defaultSlug
  const problems = (result.error?.issues ?? []).flatMap(explainIssue).map(({ path, message }) => ({
    line: lineOf(path),
    field: path.join('.') || WHOLE,
    message,
  }))
  if (!result.success) return { document: null, problems: problems.sort((a, b) => a.line - b.line) }
  if (!isSlug(slug)) {
    const message = `is missing, and the folder's name "${slug}" is not lowercase words joined by hyphens`
    return refused(lineOf(['slug']), 'slug', message)
  }
  const instructions = text.slice(match[0].length).trim()
  return { document: { ...result.data, slug, instructions }, problems: [], lineOf }
}

function refused(line: number, field: string, message: string): ParsedDocument {
  return { document: null, problems: [{ line, field, message }] }
}

/** One problem a line: what breaks YAML once is reported again by each rule that it breaks. */
function notYaml(yaml: Document.Parsed, lineAt: (offset: number) => number): ParsedDocument {
  const problems = new Map<number, DocumentProblem>()
  for (const { pos, message } of yaml.errors) {
    const line = lineAt(pos[0])
    if (!problems.has(line)) problems.set(line, { line, field: WHOLE, message: `is not YAML: ${message}` })
  }
  return { document: null, problems: [...problems.values()] }
}

/** Aliases are resolved here: one that names nothing, or too many of them, is an error only now. */
function toValues(yaml: Document.Parsed): unknown {
  try {
    return yaml.toJS()
  } catch (error) {
    return error
  }
}

function offsetOf(yaml: Document.Parsed, path: PropertyKey[]): number {
  let node: unknown = yaml.contents
  let offset = yaml.contents?.range?.[0] ?? 0
  for (const name of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(name))
      if (!pair) break
      offset = (isScalar(pair.key) && pair.key.range?.[0]) || offset
      node = pair.value
    } else if (isSeq(node)) {
      const entry = node.items[Number(name)] as { range?: [number, number, number] } | undefined
      if (!entry) break
      offset = entry.range?.[0] ?? offset
      node = entry
    } else {
      break
    }
  }
  return offset
}
