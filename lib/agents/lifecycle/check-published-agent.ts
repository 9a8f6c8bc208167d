import type { Violation } from '../../core/errors.ts'
import { InvalidAgent } from '../../core/request-errors.ts'
import { checkDocument, type DocumentProblem } from '../document/check-document.ts'
import type { PublishableAgent } from './publish-agent.ts'

type Params = {
  /** The text of an `agent.md`. */
  document: string
  /** The slug of a document without one. */
  slug: string | null
  code: string | null
}

/**
 * Checks an agent that arrives over HTTP like a folder, except for what needs its sources: TypeScript types.
 * @throws InvalidAgent with every problem; paths are those of the request body
 */
export async function checkPublishedAgent({ document: text, slug, code }: Params): Promise<PublishableAgent> {
  // A byte order mark at the start is ignored, as in a file.
  const { document, problems } = await checkDocument(text.replace(/^\uFEFF/, ''), {
    defaultSlug: slug,
    hasCode: code !== null,
    withCode: 'the request has code',
    withoutCode: 'the request has no code',
  })
  const codeViolations = code === null ? [] : await findCodeViolations(code)
  const violations = [...problems.map(toDocumentViolation), ...codeViolations]
  if (!document || violations.length > 0) throw new InvalidAgent(violations)
  return { document, code }
}

/** Violations by code that cannot be loaded. `env`: the variables that it may read. */
export type CodeLoader = (code: string, env: string[]) => Promise<Violation[]>

let loadCode: CodeLoader | undefined

/**
 * Makes this process load the code of agents that arrive. Not on AWS: there, the function that publishes may write the
 * agents of every organization, and must not run their code.
 */
export function loadPublishedCodeWith(loader: CodeLoader): void {
  loadCode = loader
}

/** Loads the code once, in a process that does so. @throws InvalidAgent if it cannot be loaded */
export async function assertLoads({ code, document }: PublishableAgent): Promise<void> {
  const violations = code === null || !loadCode ? [] : await loadCode(code, document.env)
  if (violations.length > 0) throw new InvalidAgent(violations)
}

/** Loads the parser of code on demand: many agents have none. */
async function findCodeViolations(code: string): Promise<Violation[]> {
  const { checkCode } = await import('../code/check-code.ts')
  return checkCode(code).map(({ line, message }) => ({
    path: '/code',
    line,
    message: `code:${line}: ${message}.`,
  }))
}

const toDocumentViolation = ({ line, field, message }: DocumentProblem): Violation => ({
  path: '/document',
  line,
  ...(field !== null && { field }),
  message: `agent.md:${line}: ${field === null ? '' : `${field}: `}${message}.`,
})
