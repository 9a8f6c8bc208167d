import { type FolderProblem, formatProblem } from '../../lib/agents/load-folder.ts'
import { UserError } from '../errors.ts'

/** Lines about what the environment lacks for a run, in the same format. */
export const formatWarnings = (warnings: FolderProblem[]): string[] =>
  warnings.map((warning) => formatProblem({ ...warning, message: `warning: ${warning.message}` }))

/** An error with one line per problem, in the format `file:line:column: field: message`. */
export const folderError = (action: string, problems: FolderProblem[]): UserError =>
  new UserError(`${action} failed: ${problems.length === 1 ? '1 problem' : `${problems.length} problems`}.`, {
    details: { problems },
    lines: problems.map(formatProblem),
  })
