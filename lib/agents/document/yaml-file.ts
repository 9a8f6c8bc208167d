import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'

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

/** Parses a YAML text that starts after `linesBefore` lines of its file. */
export function parseYaml(text: string, { linesBefore = 0, ...options }: Options = {}): ParsedYaml {
  const lines = new LineCounter()
  const yaml = parseDocument(text, { ...options, lineCounter: lines, prettyErrors: false })
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: line + linesBefore, column: col }
  }
  if (yaml.errors.length > 0) return { values: undefined, problems: toProblems(yaml, positionAt) }
  try {
    // Aliases are resolved here, so errors about unknown or too many aliases are thrown only now.
    const values = yaml.toJS()
    return { values, getPosition: (path) => positionAt(findOffset(yaml, path)), problems: [] }
  } catch (error) {
    const message = `invalid YAML: ${(error as Error).message}`
    return { values: undefined, problems: [{ ...START, message }] }
  }
}

/** Keeps one problem per line: a single mistake can violate several rules of YAML. */
function toProblems(yaml: Document.Parsed, positionAt: (offset: number) => Position): YamlProblem[] {
  const problems = new Map<number, YamlProblem>()
  for (const { pos, message } of yaml.errors) {
    const position = positionAt(pos[0])
    if (problems.has(position.line)) continue
    problems.set(position.line, { ...position, message: `invalid YAML: ${message}` })
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
