import { setImmediate } from 'node:timers/promises'
import { assertMaxLines, type LineInput, MAX_BATCH_LINES, type ReceivedLine } from '../../core/batch.ts'
import { ServiceError, type Violation } from '../../core/errors.ts'
import { namePattern } from '../../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { MAX_VIOLATIONS } from '../../core/limits.ts'
import { jsonTypeOf, toJsonPointer, truncate, withArticle } from '../../schema/message-text.ts'

type Problem = Pick<Violation, 'path' | 'message'>

export type CheckInput = (input: JsonObject) => Promise<Violation[]>

/** Of one line, so that a hundred lines stay readable. */
const PROBLEMS_OF_LINE = 3

/** Between two pauses, in which a process that serves others answers them. */
const LINES_AT_ONCE = 100

const MAX_CUSTOM_ID = 100
const CUSTOM_ID = namePattern(MAX_CUSTOM_ID)
const MEMBERS = ['customId', 'input']

/**
 * The inputs of a batch, all of them or none.
 * @param checkInput violations of the schema, if it is enforced
 * @param firstLines by name, also those of earlier calls that belong to these
 * @throws ServiceError `InputSchemaMismatch` with the first hundred lines that are wrong, or if there is no line;
 * PayloadTooLarge if there are too many
 */
export async function checkLines(
  received: ReceivedLine[],
  checkInput?: CheckInput,
  firstLines = new Map<string, number>(),
): Promise<LineInput[]> {
  assertSomeLines(received.length)
  assertMaxLines(received.length)
  const lines: LineInput[] = []
  const violations: Violation[] = []
  for (const each of received) {
    if (checkInput && lines.length % LINES_AT_ONCE === 0) await setImmediate()
    const problems = 'problem' in each ? [toProblem('', each.problem)] : findProblems(each.value)
    if (problems.length === 0) {
      const { customId, input } = (each as { value: Json }).value as LineInput
      const first = firstLines.get(customId)
      if (first === undefined) firstLines.set(customId, each.line)
      else problems.push(toProblem('/customId', `repeats that of line ${first}: each must be unique`))
      if (checkInput) problems.push(...(await checkInput(input)).map(ofInput))
      lines.push({ customId, input })
    }
    if (problems.length > 0) violations.push(toViolation(each.line, problems))
    if (violations.length === MAX_VIOLATIONS) break
  }
  if (violations.length === 0) return lines
  const isCut = violations.length === MAX_VIOLATIONS && violations.at(-1)?.line !== received.at(-1)?.line
  const number = `${isCut ? 'At least ' : ''}${violations.length} of ${received.length} lines`
  const verb = violations.length === 1 ? 'is' : 'are'
  const detail = `${number} ${verb} invalid${isCut ? '; the first ones are listed' : ''}. No line was started.`
  throw new ServiceError('InputSchemaMismatch', detail, { errors: violations })
}

function assertSomeLines(lines: number): void {
  if (lines > 0) return
  throw new ServiceError(
    'InputSchemaMismatch',
    `The batch has no lines. Send 1 to ${MAX_BATCH_LINES} of them, each {"customId": …, "input": …}.`,
  )
}

function findProblems(value: Json): Problem[] {
  if (!isJsonObject(value))
    return [toProblem('', `must be an object {"customId": …, "input": …}, not ${typeOf(value)}`)]
  const unknown = Object.keys(value).filter((name) => !MEMBERS.includes(name))
  const { customId, input } = value
  return [
    ...(isCustomId(customId) ? [] : [toProblem('/customId', describeCustomId(customId))]),
    ...(isJsonObject(input)
      ? []
      : [
          toProblem('/input', `must be a JSON object, not ${input === undefined ? 'absent' : typeOf(input)}`),
        ]),
    ...unknown.map((name) =>
      toProblem(toJsonPointer([name]), 'is not a member of a line: allowed are customId, input'),
    ),
  ]
}

const isCustomId = (value: Json | undefined): value is string =>
  typeof value === 'string' && CUSTOM_ID.test(value) && value.isWellFormed()

const describeCustomId = (value: Json | undefined): string =>
  `must be a string of 1 to ${MAX_CUSTOM_ID} characters without control characters${
    value === undefined || typeof value === 'string' ? '' : `, not ${typeOf(value)}`
  }`

const typeOf = (value: Json) => withArticle(jsonTypeOf(value))

const toProblem = (path: string, predicate: string): Problem => ({
  path,
  message: `${path === '' ? 'The line' : truncate(path, 100)} ${predicate}.`,
})

const ofInput = ({ path, message }: Violation): Problem => ({
  path: `/input${path}`,
  message: path === '' ? message : `/input${message}`,
})

function toViolation(line: number, problems: Problem[]): Violation {
  const others = problems.length - PROBLEMS_OF_LINE
  const messages = problems.slice(0, PROBLEMS_OF_LINE).map(({ message }) => message)
  const more = others > 0 ? ` And ${others} more.` : ''
  return { line, path: problems[0]?.path ?? '', message: `Line ${line}: ${messages.join(' ')}${more}` }
}
