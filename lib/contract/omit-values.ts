import type { ExecutionRecord } from './records/execution.ts'
import type { StepRecord } from './records/step.ts'

/** The sizes of the values that were left out, by their JSON Pointers. */
type Omitted = Record<string, number>

/** Without the values that have more bytes of JSON; `omitted` names them. Without a limit, as it is. */
export function omitLargeValues(record: ExecutionRecord, maxBytes: number | undefined): ExecutionRecord {
  if (maxBytes === undefined) return record
  const { adaptedInput, ...others } = record
  const omitted: Omitted = {}
  const isLarge = watch(omitted, maxBytes)
  return withOmitted(
    {
      ...others,
      ...(isLarge('/input', record.input) && { input: {} }),
      ...(isLarge('/output', record.output) && { output: null }),
      ...(adaptedInput && !isLarge('/adaptedInput', adaptedInput) && { adaptedInput }),
    },
    omitted,
  )
}

/** The same for the text of a response, the result of a step, and the input and result of its calls. */
export function omitLargeStepValues(record: StepRecord, maxBytes: number | undefined): StepRecord {
  if (maxBytes === undefined) return record
  const { result, toolCalls, ...others } = record
  const omitted: Omitted = {}
  const isLarge = watch(omitted, maxBytes)
  return withOmitted(
    {
      ...others,
      ...(isLarge('/text', record.text) && { text: '' }),
      ...(result !== undefined && !isLarge('/result', result) && { result }),
      ...(toolCalls && {
        toolCalls: toolCalls.map(({ result, ...call }, index) => ({
          ...call,
          ...(isLarge(`/toolCalls/${index}/input`, call.input) && { input: null }),
          ...(result !== undefined && !isLarge(`/toolCalls/${index}/result`, result) && { result }),
        })),
      }),
    },
    omitted,
  )
}

const withOmitted = <T extends object>(record: T, omitted: Omitted) =>
  Object.keys(omitted).length > 0 ? { ...record, omitted } : record

function watch(omitted: Omitted, maxBytes: number) {
  return (pointer: string, value: unknown): boolean => {
    if (value === undefined || value === null) return false
    const bytes = Buffer.byteLength(JSON.stringify(value))
    if (bytes <= maxBytes) return false
    omitted[pointer] = bytes
    return true
  }
}
