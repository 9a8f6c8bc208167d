import type { LineInput, ReceivedLine } from '../../lib/core/batch.ts'
import { ServiceError, type Violation } from '../../lib/core/errors.ts'
import { isJsonObject } from '../../lib/core/json/json.ts'
import { MAX_VIOLATIONS } from '../../lib/core/limits.ts'
import { checkLines } from '../../lib/engine/batches/check-lines.ts'
import { parseLine } from '../../lib/http/lines-body.ts'
import { UserError } from '../errors.ts'
import { readTextLines, type TextLine } from './read-lines.ts'

/** Lines that are read after the first bad one, to find others. */
const MAX_LINES_AFTER = 10_000

/**
 * The inputs of a file of NDJSON, or of standard input for `-`: lines `{ customId, input }`; or, if the first one is
 * not, plain inputs, which are named by the number of their line.
 * @param onLine is told where the lines are that are yielded
 * @throws UserError that lists the first hundred bad lines
 */
export async function* readInputs(
  source: string,
  onLine: (line: number) => void = () => undefined,
): AsyncGenerator<LineInput, void, undefined> {
  const violations: Violation[] = []
  // A batch cannot know the names of another one.
  const firstLines = new Map<string, number>()
  let isNamed: boolean | undefined
  let after = 0
  for await (const each of readTextLines(source)) {
    const parsed = parseTextLine(each)
    if ('value' in parsed) isNamed ??= !isPlain(parsed.value)
    const received = isNamed || 'problem' in parsed ? parsed : named(parsed)
    try {
      const [line] = await checkLines([received], undefined, isNamed ? firstLines : undefined)
      if (line && violations.length === 0) {
        onLine(each.line)
        yield line
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      violations.push(...(error.errors ?? []))
    }
    if (violations.length > 0 && (violations.length >= MAX_VIOLATIONS || ++after > MAX_LINES_AFTER)) break
  }
  if (violations.length > 0) throw badLines(source, violations)
}

const parseTextLine = ({ line, text }: TextLine): ReceivedLine => ({ line, ...parseLine(text) })

const isPlain = (value: unknown) => isJsonObject(value) && !('customId' in value && 'input' in value)

const MIXED = 'has customId and input, and the first line, which has not, is a plain input'

const named = ({ line, value }: Extract<ReceivedLine, { value: unknown }>): ReceivedLine =>
  isJsonObject(value) && !isPlain(value)
    ? { line, problem: MIXED }
    : { line, value: { customId: String(line), input: value } }

/** @param violations whose lines are those of the file */
export function badLines(source: string, violations: Violation[]): UserError {
  const count = violations.length === 1 ? '1 bad line' : `${violations.length} bad lines`
  const name = source === '-' ? 'Standard input' : source
  return new UserError(`${name} has ${violations.length < MAX_VIOLATIONS ? '' : 'at least '}${count}.`, {
    details: { code: 'InputSchemaMismatch', problems: violations },
    lines: violations.map(({ message }) => message),
  })
}
