import { CommanderError } from 'commander'
import { ServiceError } from '../lib/core/errors.ts'
import { jsonText, write } from './output.ts'
import { UserError } from './user-error.ts'

const SHOWN_HELP = ['commander.helpDisplayed', 'commander.version']

/** Says what went wrong: for people on stderr, with `--json` as the one document on stdout. Returns the exit code. */
export async function report(error: unknown, asJson: boolean): Promise<number> {
  if (error instanceof CommanderError) {
    if (SHOWN_HELP.includes(error.code)) return 0
    // Commander has told people already.
    if (asJson) await write(process.stdout, jsonText({ error: { message: usageMessage(error) } }))
    return 2
  }
  const refusal = toUserError(error)
  if (!refusal) await write(process.stderr, error instanceof Error ? `${error.stack}\n` : `${error}\n`)
  const { message, details, lines } = refusal ?? { message: String(error), details: {}, lines: [] }
  if (asJson) await write(process.stdout, jsonText({ error: { message, ...details } }))
  else if (refusal) await write(process.stderr, [...lines, message, ''].join('\n'))
  return 1
}

function usageMessage({ code, message }: CommanderError): string {
  return code === 'commander.help'
    ? 'A command is missing; --help lists them.'
    : message.replace(/^error: /, '')
}

function toUserError(error: unknown): UserError | null {
  if (error instanceof UserError) return error
  if (!(error instanceof ServiceError)) return null
  const { code, errors, cause } = error
  const why = cause instanceof Error && cause.message ? ` (${cause.message})` : ''
  return new UserError(`${error.message}${why}`, { details: { code, ...(errors && { problems: errors }) } })
}
