import { closest } from 'fastest-levenshtein'
import { type Document, isMap, isScalar, LineCounter, parseDocument as parseYaml } from 'yaml'
import type * as z from 'zod'
import { isSlug } from '../core/ids.ts'
import { type AgentDocument, documentSchema } from './document.ts'

/** Something wrong in a document: where (a line of the file, a dotted field) and what. */
export type DocumentProblem = { line: number; field: string; message: string }

export type ParsedDocument =
  | { document: AgentDocument; problems: []; lineOf: LineFinder }
  | { document: null; problems: DocumentProblem[] }

/** The line on which a field of the front matter stands; of its nearest enclosing field when it is not there itself. */
export type LineFinder = (path: PropertyKey[]) => number

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m

/**
 * Reads an `agent.md`: YAML front matter between two `---` lines, then the instructions.
 * @param defaultSlug the folder's name, used when the document names no slug
 */
export function parseDocument(text: string, defaultSlug: string): ParsedDocument {
  const match = text.startsWith('---') ? FRONT_MATTER.exec(text) : null
  if (!match) return refused('front matter', 'must begin the file, between two lines of "---"')
  const lines = new LineCounter()
  const yaml = parseYaml(match[1] ?? '', { lineCounter: lines })
  const lineAt = (offset: number) => lines.linePos(offset).line + 1
  if (yaml.errors.length > 0) {
    const problems = yaml.errors.map((error) => ({
      line: lineAt(error.pos[0]),
      field: 'front matter',
      message: `is not YAML: ${error.message.split('\n')[0]}`,
    }))
    return { document: null, problems }
  }
  const lineOf: LineFinder = (path) => lineAt(offsetOf(yaml, path))

  const result = documentSchema.safeParse(yaml.toJS())
  if (!result.success) {
    const problems = result.error.issues.flatMap(explain).map(({ path, message }) => ({
      line: lineOf(path),
      field: path.join('.') || 'front matter',
      message,
    }))
    return { document: null, problems: problems.sort((a, b) => a.line - b.line) }
  }
  const slug = result.data.slug ?? defaultSlug
  if (!isSlug(slug)) {
    return refused('slug', `is needed: the folder's name "${slug}" is not lowercase words joined by hyphens`)
  }
  const instructions = text.slice(match[0].length).trim()
  return { document: { ...result.data, slug, instructions }, problems: [], lineOf }
}

function refused(field: string, message: string): ParsedDocument {
  return { document: null, problems: [{ line: 1, field, message }] }
}

type Finding = { path: PropertyKey[]; message: string }

/** One finding a field; an unknown field is told the nearest known one. */
function explain(issue: z.core.$ZodIssue): Finding[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: issue.message }]
  return issue.keys.map((key) => ({
    path: [...issue.path, key],
    message: `is not a known field; did you mean "${closest(key, knownKeys(issue.path))}"?`,
  }))
}

const TOP_KEYS = Object.keys(documentSchema.shape)
const SETTINGS_KEYS = ['useCache', 'cacheTtlSeconds', 'maxAgentSteps', 'timeoutSeconds']
const FIELD_KEYS = ['type', 'description', 'required', 'enum', 'items', 'properties', 'default']

function knownKeys(path: PropertyKey[]): string[] {
  if (path.length === 0) return TOP_KEYS
  return path[0] === 'execution' ? SETTINGS_KEYS : FIELD_KEYS
}

function offsetOf(yaml: Document.Parsed, path: PropertyKey[]): number {
  let node: unknown = yaml.contents
  let offset = yaml.contents?.range?.[0] ?? 0
  for (const name of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === name)
      if (!pair) break
      offset = (isScalar(pair.key) && pair.key.range?.[0]) || offset
      node = pair.value
    } else {
      break
    }
  }
  return offset
}
