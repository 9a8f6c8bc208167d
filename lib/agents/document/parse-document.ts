import { isSlug } from '../../core/ids.ts'
import { type AgentDocument, documentSchema } from './document.ts'
import { explainIssue } from './explain-issue.ts'
import { type GetPosition, type Position, parseYaml, START } from './yaml-file.ts'

/** `field` is a dotted path. The message continues a sentence that starts with the field. */
export type DocumentProblem = Position & { field: string; message: string }

export type ParsedDocument =
  | { document: AgentDocument; problems: []; getPosition: GetPosition }
  | { document: null; problems: DocumentProblem[] }

/** The lookbehind anchors the start of the file: with the m flag, ^ matches every line. */
const FRONT_MATTER = /(?<![\s\S])---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m
const FRONT_MATTER_FIELD = 'front matter'

/**
 * Parses an `agent.md`: YAML front matter between two `---` lines, then the instructions.
 * @param defaultSlug the folder's name, used if the document has no slug; null if there is none
 */
export function parseDocument(text: string, defaultSlug: string | null): ParsedDocument {
  const match = FRONT_MATTER.exec(text)
  if (!match) return toProblem(START, FRONT_MATTER_FIELD, 'must start the file, between two "---" lines')
  const yaml = parseYaml(match[1] ?? '', { linesBefore: 1 })
  if (!('getPosition' in yaml)) {
    const problems = yaml.problems.map((problem) => ({ ...problem, field: FRONT_MATTER_FIELD }))
    return { document: null, problems }
  }

  const { getPosition } = yaml
  const result = documentSchema.safeParse(yaml.values, { reportInput: true })
  const slug = result.data?.slug ?? defaultSlug
  const problems = (result.error?.issues ?? []).flatMap(explainIssue).map(({ path, message }) => ({
    ...getPosition(path),
    field: path.join('.') || FRONT_MATTER_FIELD,
    message,
  }))
  if (!result.success) return { document: null, problems: problems.sort((a, b) => a.line - b.line) }
  if (slug === null || !isSlug(slug)) {
    const reason = slug === null ? '' : ` because the folder name "${slug}" is not a valid slug`
    const message = `is required${reason} (lowercase words joined by hyphens)`
    return toProblem(getPosition(['slug']), 'slug', message)
  }
  const instructions = text.slice(match[0].length).trim()
  return { document: { ...result.data, slug, instructions }, problems: [], getPosition }
}

function toProblem(position: Position, field: string, message: string): ParsedDocument {
  return { document: null, problems: [{ ...position, field, message }] }
}
