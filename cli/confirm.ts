import { UserError } from './errors.ts'
import { LineReader } from './lines.ts'
import { write } from './terminal.ts'

/**
 * Asks in the terminal, after what the user has to know. Anything but yes is no.
 * @throws UserError without a terminal: it tells which option answers
 */
export async function confirm(question: string, details: string, option = '--yes'): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UserError(`${details}\n\n${question} Nobody can answer without a terminal: use ${option}.`)
  await write(process.stderr, `${details}\n\n${question} [y/N] `)
  const answer = await new LineReader().next()
  return /^y(es)?$/i.test(answer?.trim() ?? '')
}
