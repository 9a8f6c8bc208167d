import { MAX_PAGE_BYTES } from '../core/limits.ts'
import type { Page, PageRequest } from '../core/ports.ts'
import type { RecordedStep, StepStore } from '../core/step.ts'

type Params = { steps: StepStore; executionId: string } & PageRequest

/** A page of an execution's steps in order, limited to what one response can carry. */
export async function listSteps({ steps, executionId, limit, after }: Params): Promise<Page<RecordedStep>> {
  const from = Number(after?.order ?? 0) + 1
  const recorded = await steps.read({ executionId, from, limit: limit + 1 })
  let bytes = 0
  const fitting = recorded.findIndex((entry, index) => {
    bytes += JSON.stringify([entry.step, ...entry.results.values()]).length
    return index === limit || (index > 0 && bytes > MAX_PAGE_BYTES)
  })
  if (fitting === -1) return { items: recorded, next: null }
  const items = recorded.slice(0, fitting)
  return { items, next: { order: String(items.at(-1)?.step.number) } }
}
