import { type FolderProblem, formatProblem } from '../../lib/agents/load-folder.ts'
import { UserError } from '../errors.ts'

/** Lines about what the environment lacks for a run, in the same format. */
export const formatWarnings = (warnings: FolderProblem[]): string[] =>
  warnings.map((warning) => formatProblem({ ...warning, message: `warning: ${warning.message}` }))

/** An error with one line per problem, in the format `file:line:column: field: message`. */
export const folderError = (action: string, problems: FolderProblem[]): UserError =>
  problemsError(`${action} failed: ${countOf(problems)}.`, problems)

/** The error for an agent that the command's own agent calls. */
export const calleeError = (slug: string, problems: FolderProblem[]): UserError =>
  problemsError(`The agent ${slug}, which is called as a tool, has ${countOf(problems)}.`, problems)

const problemsError = (message: string, problems: FolderProblem[]) =>
  new UserError(message, { details: { problems }, lines: problems.map(formatProblem) })

const countOf = ({ length }: FolderProblem[]) => (length === 1 ? '1 problem' : `${length} problems`)
