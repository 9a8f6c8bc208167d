import { type ExecutionReference, readNamed } from '../../access/executions.ts'
import { endOfStep } from '../../core/attempts.ts'
import {
  type ComparedStep,
  type ComparedSteps,
  compareValues,
  type ExecutionComparison,
  MAX_DIFFERENCES,
} from '../../core/compare.ts'
import type { ListPosition } from '../../core/cursor.ts'
import type { Execution } from '../../core/execution.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { type PointerTree, toPointerTree } from '../../core/json/pointer.ts'
import { MAX_AGENT_STEPS, MAX_PAGE_BYTES, PAGE_SIZE } from '../../core/limits.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import { readPages } from '../../core/read-pages.ts'
import { type CallResult, type RecordedStep, type StepStore, WAIT_RESULT } from '../../core/step.ts'

type Stores = {
  executions: Pick<ExecutionStore, 'get' | 'isVisible'>
  steps: Pick<StepStore, 'list'>
}

/**
 * What two executions were asked for, have returned and done. If one of them repeats the other, what it ignores is
 * left out.
 * @throws ExecutionNotFound
 */
export async function compareExecutions(
  stores: Stores,
  { otherId, ...reference }: ExecutionReference & { otherId: string },
): Promise<ExecutionComparison> {
  const left = await readNamed(stores.executions, reference)
  const right = await readNamed(stores.executions, { ...reference, executionId: otherId })
  const ignored = toPointerTree(ignoredBy(left, right) ?? ignoredBy(right, left) ?? [])
  const request = compareValues(requestOf(left), requestOf(right))
  const compared = compareValues(endOf(left), endOf(right), { ignored: below('output', ignored) })
  const steps = await compareSteps(stores.steps, { left: left.id, right: right.id, ignored })
  return { left, right, request, ...compared, ...steps }
}

const ignoredBy = ({ replay }: Execution, original: Execution): string[] | null =>
  replay?.executionId === original.id ? replay.ignore : null

const requestOf = ({ input, options }: Execution) => ({ input, options }) as JsonObject

const endOf = ({ output, error }: Execution) => ({ output, error }) as JsonObject

/** Code agents can have more. */
const MAX_COMPARED_STEPS = 2 * MAX_AGENT_STEPS.max
/** Of all steps together. */
const MAX_STEP_DIFFERENCES = 1_000

type Steps = Pick<StepStore, 'list'>

/**
 * The steps of two executions in the order of the left one, then those that only the right one has. Those of code
 * agents are the same by their names, because their order can differ, and others by their numbers. Reads page by page.
 */
export async function compareSteps(
  steps: Steps,
  { left, right, ignored }: { left: string; right: string; ignored: PointerTree },
): Promise<ComparedSteps> {
  const others = openReader(steps, right)
  const names = await readNames(steps, right)
  const matched = new Set<number>()
  const compared: ComparedStep[] = []
  let room = MAX_STEP_DIFFERENCES
  const add = (a: RecordedStep | null, b: RecordedStep | null) => {
    const step = compareStep(a, b, { ignored, max: Math.min(room, MAX_DIFFERENCES) })
    room -= step.differences.length
    compared.push(step)
  }
  for await (const step of readSteps(steps, left)) {
    if (compared.length === MAX_COMPARED_STEPS) return { steps: compared, hasMoreSteps: true }
    const name = nameOf(step)
    const number = name === null ? step.step.number : names.get(name)
    const other = number === undefined ? null : await others(number)
    const isMatch = other !== null && nameOf(other) === name
    if (isMatch) matched.add(other.step.number)
    add(step, isMatch ? other : null)
  }
  let first = 1
  while (matched.has(first)) first++
  for await (const step of readSteps(steps, right, { order: String(first - 1) })) {
    if (matched.has(step.step.number)) continue
    if (compared.length === MAX_COMPARED_STEPS) return { steps: compared, hasMoreSteps: true }
    add(null, step)
  }
  return { steps: compared, hasMoreSteps: false }
}

const maxBytes = MAX_PAGE_BYTES

const readSteps = (steps: Steps, executionId: string, from: ListPosition | null = null) =>
  readPages((page) => steps.list({ executionId, ...page, maxBytes }), from)

/** Reads steps by their numbers. Most requests are for the next one, which is on the page that was read last. */
function openReader(steps: Steps, executionId: string) {
  let page: RecordedStep[] = []
  return async (number: number): Promise<RecordedStep | null> => {
    const isOf = ({ step }: RecordedStep) => step.number === number
    if (!page.some(isOf)) {
      const after = number === 1 ? null : { order: String(number - 1) }
      page = (await steps.list({ executionId, limit: PAGE_SIZE.max, maxBytes, after })).items
    }
    return page.find(isOf) ?? null
  }
}

/** The numbers of the steps of a code agent, by name. */
async function readNames(steps: Steps, executionId: string): Promise<Map<string, number>> {
  const names = new Map<string, number>()
  for await (const recorded of readSteps(steps, executionId)) {
    const name = nameOf(recorded)
    if (name === null || names.size === MAX_COMPARED_STEPS) break
    names.set(name, recorded.step.number)
  }
  return names
}

const nameOf = ({ step }: RecordedStep): string | null => (step.kind === 'MODEL' ? null : step.name)

function compareStep(
  left: RecordedStep | null,
  right: RecordedStep | null,
  { ignored, max }: { ignored: PointerTree; max: number },
): ComparedStep {
  const [a, b] = [left && contentOf(left), right && contentOf(right)]
  const calls = Math.max(
    ...[left, right].map((each) => (each?.step.kind === 'MODEL' ? each.step.calls.length : 0)),
  )
  const inputs = Array.from(
    { length: calls },
    (_, index) => [String(index), below('input', ignored)] as const,
  )
  const inCalls = below('toolCalls', { isEnd: false, members: new Map(inputs) })
  const compared = compareValues(a ?? undefined, b ?? undefined, { ignored: inCalls, max })
  const known = left ?? right
  return {
    left: left?.step.number ?? null,
    right: right?.step.number ?? null,
    name: known && nameOf(known),
    isSame: compared.differences.length === 0 && !compared.isCut,
    ...compared,
  }
}

/** What is ignored of a value, as what is ignored of the object that has it as this member. */
const below = (name: string, ignored: PointerTree): PointerTree => ({
  isEnd: false,
  members: new Map([[name, ignored]]),
})

/** What of the record of a step can be the same in another execution: without ids, times and usage. */
function contentOf({ step, results }: RecordedStep): JsonObject {
  if (step.kind === 'CODE') {
    const end = endOfStep({ step, results })
    if (!end) return {}
    return 'value' in end ? { result: end.value } : outcomeOf(end.failed)
  }
  if (step.kind === 'WAIT') {
    const { kind } = step.wait
    if (step.wait.kind === 'approval')
      return { wait: { kind }, ...outcomeOf(results.get(step.wait.id), toDecided) }
    return { wait: { kind }, ...outcomeOf(results.get(WAIT_RESULT)) }
  }
  const { text, stopReason, calls } = step
  const toolCalls = calls.map(({ id, name, input, error }) => ({
    name,
    input,
    ...(error !== null && { error }),
    ...outcomeOf(results.get(id)),
  }))
  return { text, toolCalls, ...(stopReason && { stopReason }) }
}

function outcomeOf(recorded: CallResult | undefined, toShown = (value: Json) => value): JsonObject {
  if (!recorded) return {}
  const { result } = recorded
  return result.ok ? { result: toShown(result.value) } : { error: result.error }
}

/** A decision without who decided, and when. */
function toDecided(value: Json): Json {
  if (!isJsonObject(value)) return value
  const { by, decidedAt, ...decided } = value
  return decided
}
