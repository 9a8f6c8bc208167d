import type { Version } from '../../core/agent.ts'
import { type Execution, failure, type Outcome } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import { isJsonObject, isWithinDepth, type Json, MAX_JSON_DEPTH } from '../../core/json/json.ts'
import { NO_COST, NO_USAGE } from '../../core/model-usage.ts'
import type { SecretMask } from '../../tools/secret-mask.ts'
import { inputValidatorOf, outputValidatorOf } from '../compiled-schemas.ts'
import { MAX_TEXT, type RunResult, type ThreadError } from './thread/protocol.ts'

type Run = { execution: Pick<Execution, 'input'>; version: Version }
/** `steps`: how many it has in its journal. */
type EndedRun = Run & { steps: number }

/** The outcome for what an agent returned: a valid output, or the error that explains why it is invalid. */
export function toOutcome(
  result: Extract<RunResult, { type: 'returned' | 'invalid' }>,
  run: EndedRun,
): Outcome {
  return result.type === 'invalid'
    ? withInputErrors(failure({ code: result.code, message: result.message }), run)
    : toOutputOutcome(JSON.parse(result.json), run)
}

/** The same for an output that is JSON. */
export const toOutputOutcome = (output: Json, run: EndedRun): Outcome =>
  withInputErrors(validate(output, run), run)

function withInputErrors(outcome: Outcome, run: Run): Outcome {
  if (outcome.status === 'SUCCESS') return outcome
  const inputErrors = findInputErrors(run)
  return inputErrors.length > 0 ? failure({ ...outcome.error, inputErrors }) : outcome
}

function validate(output: Json, { version, steps }: EndedRun): Outcome {
  if (!isJsonObject(output)) return failure(mismatch('The output must be a JSON object.'))
  if (!isWithinDepth(output))
    return failure(mismatch(`The output is nested deeper than ${MAX_JSON_DEPTH} levels.`))
  const errors = outputValidatorOf(version)(output)
  if (errors.length > 0)
    return failure({ ...mismatch('The output does not match the output schema.'), errors })
  return { status: 'SUCCESS', output, steps, usage: steps > 0 ? NO_COST : NO_USAGE, model: null }
}

const mismatch = (message: string): ExecutionError => ({ code: 'OutputSchemaMismatch', message })

/** Violations of the input schema, which adaptation has left. */
const findInputErrors = ({ execution, version }: Run) => inputValidatorOf(version)(execution.input)

/** The outcome for an agent that threw. */
export function toFailure(error: ThreadError, run: Run, mask: SecretMask): Outcome {
  const { code = 'AgentFailed', message } = error
  const frames = framesOf(error)
  const at = frames[0]
  const violations = findInputErrors(run)
  return failure({
    code,
    message: cutMessage(message, mask),
    ...(at && { at, stack: frames.join('\n') }),
    ...(violations.length > 0 && { errors: violations }),
  })
}

const MAX_MESSAGE_CHARACTERS = 4_000

/** The text of an error, as it is stored: without secrets, and short. */
export const cutMessage = (text: string, mask: SecretMask): string =>
  mask
    .apply(text, { end: text.length === MAX_TEXT })
    .slice(0, MAX_MESSAGE_CHARACTERS)
    .toWellFormed()

const MAX_FRAMES = 10
/** What executes agents, as a bundle and as sources. */
const OWN_FILE = /\/(?:thread-entry\.mjs|code-agent\/thread\/[a-z-]+\.ts|lib\/tools\/egress\/[a-z-]+\.ts):/

/** The frames of the agent's own source, as `file:line:column (function)`. They contain no values. */
export function framesOf({ stack }: Pick<ThreadError, 'stack'>): string[] {
  const frames = (stack ?? '').split('\n').flatMap((line) => {
    const [, name, location] = /^\s+at (?:(.+?) \()?(?:file:\/\/)?(.+?:\d+:\d+)\)?$/.exec(line) ?? []
    if (!location || location.startsWith('node:') || OWN_FILE.test(location)) return []
    const file = location.replace(/^.*\/agent-code-[^/]+\//, '')
    return [name ? `${file} (${name})` : file]
  })
  return frames.slice(0, MAX_FRAMES)
}
