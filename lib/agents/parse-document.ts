import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument as parseYaml } from 'yaml'
import { isSlug } from '../core/ids.ts'
import { type AgentDocument, documentSchema } from './document.ts'
import { explainIssue } from './explain-issue.ts'

/** `line` in the file, `field` as a dotted path. The message continues a sentence that starts with the field. */
export type DocumentProblem = { line: number; field: string; message: string }

export type ParsedDocument =
  | { document: AgentDocument; problems: []; getLine: GetLine }
  | { document: null; problems: DocumentProblem[] }

/** The line of a field in the front matter, or of the nearest enclosing field that exists. */
export type GetLine = (path: PropertyKey[]) => number

/** The lookbehind anchors the start of the file: with the m flag, ^ matches every line. */
const FRONT_MATTER = /(?<![\s\S])---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m
const FRONT_MATTER_FIELD = 'front matter'

/**
 * Parses an `agent.md`: YAML front matter between two `---` lines, then the instructions.
 * @param defaultSlug the folder's name, used if the document has no slug; null if there is none
 */
export function parseDocument(text: string, defaultSlug: string | null): ParsedDocument {
  const match = FRONT_MATTER.exec(text)
  if (!match) return toProblem(1, FRONT_MATTER_FIELD, 'must start the file, between two "---" lines')
  const lines = new LineCounter()
  const yaml = parseYaml(match[1] ?? '', { lineCounter: lines, prettyErrors: false })
  const lineAt = (offset: number) => lines.linePos(offset).line + 1
  if (yaml.errors.length > 0) return toYamlProblems(yaml, lineAt)
  const values = toValues(yaml)
  if (values instanceof Error) return toProblem(1, FRONT_MATTER_FIELD, `invalid YAML: ${values.message}`)

  const getLine: GetLine = (path) => lineAt(findOffset(yaml, path))
  const result = documentSchema.safeParse(values, { reportInput: true })
  const slug = result.data?.slug ?? defaultSlug
  const problems = (result.error?.issues ?? []).flatMap(explainIssue).map(({ path, message }) => ({
    line: getLine(path),
    field: path.join('.') || FRONT_MATTER_FIELD,
    message,
  }))
  if (!result.success) return { document: null, problems: problems.sort((a, b) => a.line - b.line) }
  if (slug === null || !isSlug(slug)) {
    const reason = slug === null ? '' : ` because the folder name "${slug}" is not a valid slug`
    const message = `is required${reason} (lowercase words joined by hyphens)`
    return toProblem(getLine(['slug']), 'slug', message)
  }
  const instructions = text.slice(match[0].length).trim()
  return { document: { ...result.data, slug, instructions }, problems: [], getLine }
}

function toProblem(line: number, field: string, message: string): ParsedDocument {
  return { document: null, problems: [{ line, field, message }] }
}

/** Keeps one problem per line: a single mistake can violate several rules of YAML. */
function toYamlProblems(yaml: Document.Parsed, lineAt: (offset: number) => number): ParsedDocument {
  const problems = new Map<number, DocumentProblem>()
  for (const { pos, message } of yaml.errors) {
    const line = lineAt(pos[0])
    if (problems.has(line)) continue
    problems.set(line, { line, field: FRONT_MATTER_FIELD, message: `invalid YAML: ${message}` })
  }
  return { document: null, problems: [...problems.values()] }
}

/** Aliases are resolved here, so errors about unknown or too many aliases are thrown only now. */
function toValues(yaml: Document.Parsed): unknown {
  try {
    return yaml.toJS()
  } catch (error) {
    return error
  }
}

function findOffset(yaml: Document.Parsed, path: PropertyKey[]): number {
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
