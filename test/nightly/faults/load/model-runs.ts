import { DELEGATING_AGENT, MODEL_AGENT } from './planned-run.ts'

export type ModelInput = { marker: string; steps: number; parallel: number }

/** The result of a tool call; the model adds them up. */
export const toolValue = (step: number, call: number) => 10 * step + call

/** What the total contains for a call that failed. */
export const FAILED_CALL = -1_000

/** What the model reports to have used for a response: more than is estimated for its request. */
export const usageOf = (step: number) => ({ inputTokens: 2_000 * step, outputTokens: 5 })

export const tokensOf = ({ inputTokens, outputTokens }: ReturnType<typeof usageOf>) =>
  inputTokens + outputTokens

const CHILD = '~'

/** The input of an agent that is called as a tool. Its marker begins with that of the run. */
export const childInput = (marker: string, step: number, call: number): ModelInput => ({
  marker: `${marker}${CHILD}${step}.${call}`,
  steps: 2,
  parallel: 1,
})
/** The number of the model response that made a call. */
export const stepOfCall = ({ marker = '', step }: { marker?: string; step?: number }): number =>
  step ?? Number(marker.slice(marker.lastIndexOf(CHILD) + 1).split('.')[0])

export const CHILD_TOTAL = toolValue(1, 1)

export const isChild = (marker: string) => marker.includes(CHILD)

/** The marker of the run that an agent was called for. */
export const rootOf = (marker: string) => marker.split(CHILD)[0] ?? ''

const SLUGS = { model: MODEL_AGENT, delegating: DELEGATING_AGENT }

/** Every step but the last makes `parallel` calls of each tool. */
export function modelRun(kind: keyof typeof SLUGS, marker: string, steps: number, parallel: number) {
  let total = 0
  for (let step = 1; step < steps; step++) {
    for (let call = 1; call <= parallel; call++)
      total += kind === 'delegating' ? CHILD_TOTAL : toolValue(step, call)
  }
  const input: ModelInput = { marker, steps, parallel }
  return { kind, slug: SLUGS[kind], input, output: { marker, total } }
}
