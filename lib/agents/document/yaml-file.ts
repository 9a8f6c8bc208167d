import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'
import { MAX_VIOLATIONS } from '../../core/limits.ts'

/** A position in a file; both numbers start at 1. */
export type Position = { line: number; column: number }

/** The position of a problem with a whole file. */
export const START: Position = { line: 1, column: 1 }

/** The position of a field, or of the nearest enclosing field that exists. */
export type GetPosition = (path: PropertyKey[]) => Position

type YamlProblem = Position & { message: string }

export type ParsedYaml =
  | { values: unknown; getPosition: GetPosition; problems: [] }
  | { values: undefined; problems: YamlProblem[] }

type Options = Parameters<typeof parseDocument>[1] & { linesBefore?: number }

/** A text may have this many keys, in all its maps together: no document or case comes near it. */
const MAX_KEYS = 10_000

/** Parses a YAML text that starts after `linesBefore` lines of its file. */
export function parseYaml(text: string, { linesBefore = 0, ...options }: Options = {}): ParsedYaml {
  const lines = new LineCounter()
  // The parser compares each key of a map with all others.
  const yaml = parseDocument(text, {
    ...options,
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
  })
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: line + linesBefore, column: col }
  }
  const errors = [...yaml.errors, ...findKeyErrors(yaml)].sort((a, b) => a.pos[0] - b.pos[0])
  if (errors.length > 0) return { values: undefined, problems: toProblems(errors, positionAt) }
  try {
    // Aliases are resolved here, so errors about unknown or too many aliases are thrown only now.
    const values = yaml.toJS()
    return { values, getPosition: (path) => positionAt(findOffset(yaml, path)), problems: [] }
  } catch (error) {
    const message = `invalid YAML: ${(error as Error).message}`
    return { values: undefined, problems: [{ ...START, message }] }
  }
}

type YamlError = { pos: readonly [number, ...number[]]; message: string }

/** Keys that a map has twice, in linear time, or the first one beyond the limit; values that lose characters. */
function findKeyErrors(yaml: Document.Parsed): YamlError[] {
  const errors: YamlError[] = []
  let count = 0
  visit(yaml, {
    Map: (_, { items }) => {
      // As text: `1` and `"1"` are one member of an object.
      const known = new Set<string>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        const pos = [key.range?.[0] ?? 0] as const
        if (key.value === null) errors.push({ pos, message: NULL_KEY })
        if (known.has(String(key.value))) errors.push({ pos, message: 'Map keys must be unique' })
        known.add(String(key.value))
        count += 1
        if (count <= MAX_KEYS) continue
        errors.push({ pos, message: `there can be ${MAX_KEYS} keys` })
        return visit.BREAK
      }
      return undefined
    },
    Scalar: (_, { value, source = '', range, type }) => {
      if (type !== 'PLAIN' || typeof value !== 'number' || !/^[-+]?0\d/.test(source)) return
      const message = `${source} is a number, which loses its zeros; quote it ("${source}"), or write ${value}`
      errors.push({ pos: [range?.[0] ?? 0], message })
    },
  })
  return errors
}

const NULL_KEY = 'a key is null, which is no text; quote it: "null"'

/** What the parser says of `a: b: c`, and what it is about for those who did not mean a map. */
const NESTED = /^Nested mappings are not allowed in compact mappings/
const COLON = 'the value contains ": ", which begins a map; quote the value'

/** Keeps one problem per line: a single mistake can violate several rules of YAML. */
function toProblems(errors: readonly YamlError[], positionAt: (offset: number) => Position): YamlProblem[] {
  const problems = new Map<number, YamlProblem>()
  for (const { pos, message } of errors.slice(0, MAX_VIOLATIONS)) {
    const position = positionAt(pos[0])
    if (problems.has(position.line)) continue
    problems.set(position.line, {
      ...position,
      message: `invalid YAML: ${NESTED.test(message) ? COLON : message}`,
    })
  }
  return [...problems.values()]
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
