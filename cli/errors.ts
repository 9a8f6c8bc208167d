import { CommanderError } from 'commander'
import { AgentError } from '../clients/typescript/src/index.ts'
import { type FolderProblem, formatProblem } from '../lib/agents/load-folder.ts'
import { type ErrorCode, ServiceError } from '../lib/core/errors.ts'
import { ResultFailed, toJsonText, write } from './terminal.ts'

/** An error that the user can fix. Printed as a message without a stack trace. */
export class UserError extends Error {
  /** Additional members of the JSON error document. */
  readonly details: Record<string, unknown>
  /** Lines printed above the message; the JSON error document has the same facts in `details`. */
  readonly lines: string[]

  constructor(
    message: string,
    { details = {}, lines = [] }: { details?: Record<string, unknown>; lines?: string[] } = {},
  ) {
    super(message)
    this.name = 'UserError'
    this.details = details
    this.lines = lines
  }
}

/** Errors of the service that name a route, with the command that does the same. */
const MESSAGES: Partial<Record<ErrorCode, string>> = {
  AgentNotFound: 'The organization has no agent with this ID or slug. List agents: npx agent-execution list',
  VersionNotFound: 'The agent has no such version. List versions: npx agent-execution versions <slug>',
  AgentArchived:
    'This agent is archived: it accepts no runs and no versions. Restore it: npx agent-execution restore <slug>',
  VersionRetired:
    'This version is retired: it accepts no runs and cannot become current. Make it usable again: npx agent-execution unretire <slug> <version>',
  RolloutNotFound: 'The agent has no rollout. Start one: npx agent-execution rollout <slug> --percent 10',
  ExecutionNotFound: 'The organization has no execution with this ID.',
}

const HELP_CODES = ['commander.helpDisplayed', 'commander.version']

/** Prints an error: as text on stderr, or with `--json` as one JSON document on stdout. Returns the exit code. */
export async function reportError(thrown: unknown, asJson: boolean): Promise<number> {
  // What a function in this process has thrown.
  const error = thrown instanceof AgentError ? (thrown.cause ?? thrown) : thrown
  if (error instanceof ResultFailed) return 1
  if (error instanceof CommanderError) return reportUsageError(error, asJson)
  const userError = toUserError(error)
  if (!userError) await write(process.stderr, error instanceof Error ? `${error.stack}\n` : `${error}\n`)
  const { message, details, lines } = userError ?? { message: String(error), details: {}, lines: [] }
  if (asJson) await write(process.stdout, toJsonText({ error: { message, ...details } }))
  else if (userError) await write(process.stderr, [...lines, message, ''].join('\n'))
  return 1
}

async function reportUsageError({ code, message }: CommanderError, asJson: boolean): Promise<number> {
  if (HELP_CODES.includes(code)) return 0
  // Commander has already printed the text version.
  if (asJson) {
    const text =
      code === 'commander.help'
        ? 'No command specified. Use --help to list the commands.'
        : message.replace(/^error: /, '')
    await write(process.stdout, toJsonText({ error: { message: text } }))
  }
  return 2
}

function toUserError(error: unknown): UserError | null {
  if (error instanceof UserError) return error
  if (!(error instanceof ServiceError || error instanceof AgentError)) return null
  const { code, errors, cause } = error as ServiceError
  const message = MESSAGES[code as ErrorCode] ?? error.message
  const reason = cause instanceof Error && cause.message ? ` (${cause.message})` : ''
  return new UserError(`${message}${reason}`, { details: { code, ...(errors && { problems: errors }) } })
}

/** Lines about what the environment lacks for a run, in the same format. */
export const formatWarnings = (warnings: FolderProblem[]): string[] =>
  warnings.map((warning) => formatProblem({ ...warning, message: `warning: ${warning.message}` }))

/** An error with one line per problem, in the format `file:line:column: field: message`. */
export const folderError = (action: string, problems: FolderProblem[]): UserError =>
  problemsError(`${action} failed: ${countOf(problems)}.`, problems)

/** The error for an agent that the command's own agent calls. */
export const calleeError = (slug: string, problems: FolderProblem[]): UserError =>
  problemsError(`The agent ${slug}, which this one needs, has ${countOf(problems)}.`, problems)

const problemsError = (message: string, problems: FolderProblem[]) =>
  new UserError(message, { details: { problems }, lines: problems.map(formatProblem) })

const countOf = ({ length }: FolderProblem[]) => (length === 1 ? '1 problem' : `${length} problems`)
