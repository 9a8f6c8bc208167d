import type { Execution } from '../../core/execution.ts'
import type { Json } from '../../core/json/json.ts'
import type { Recording } from '../../core/recording.ts'
import type { CallResult, RecordedStep } from '../../core/step.ts'
import type { WaitRequest } from '../../core/wait.ts'
import { checkOf, resultIdOf } from '../waiting/code-waits.ts'
import { Diverged } from './diverged.ts'

/**
 * What a replayed code agent takes from the journal of its original, by name: its steps, or those before `fromStep`,
 * and all of its waits, because a replay waits for nobody. Of steps that threw, those with options are recorded.
 */
export class RecordedSteps {
  /** Steps that are not taken from the recording are executed; otherwise, the agent may have no effect. */
  readonly executesSteps: boolean
  private readonly fromStep: number
  private readonly byName: Map<string, RecordedStep>

  constructor({ steps }: Recording, { replay }: Pick<Execution, 'replay'>) {
    this.executesSteps = replay?.steps === 'live'
    this.fromStep = replay?.fromStep ?? 1
    const named = steps.flatMap((recorded) =>
      recorded.step.kind === 'MODEL' ? [] : [[recorded.step.name, recorded] as const],
    )
    this.byName = new Map(named)
  }

  /** A step of the original, with its attempts; null if it is executed. @throws Diverged */
  find(name: string): RecordedStep | null {
    const recorded = this.byName.get(name)
    if (recorded?.step.kind === 'CODE' && (!this.executesSteps || recorded.step.number < this.fromStep))
      return recorded
    if (this.executesSteps) return null
    throw new Diverged(`The original has no recording of the step "${name}".`, { names: [name] })
  }

  /** How a wait ended; null if it had not when the original ended. @throws Diverged, InvalidWait */
  findEnd(name: string, wait: WaitRequest): { value: Json } | null {
    const { step, results } = this.byName.get(name) ?? {}
    if (step?.kind !== 'WAIT')
      throw new Diverged(`The original has no recording of the wait "${name}".`, { names: [name] })
    const end = results?.get(resultIdOf(step))
    if (!isLike(step.wait, wait) || (end && !accepts(name, wait, end)))
      throw new Diverged(`The wait "${name}" cannot end as that of the original did.`, { names: [name] })
    return end ? { value: resultOf(end) } : null
  }
}

const isLike = (recorded: WaitRequest, wait: WaitRequest): boolean =>
  recorded.kind === wait.kind &&
  (recorded.kind !== 'signal' || wait.kind !== 'signal' || recorded.isAny === wait.isAny)

/** Whether the wait would have taken the signal that the original took. */
function accepts(name: string, wait: WaitRequest, end: CallResult): boolean {
  if (wait.kind !== 'signal' || !end.signals?.taken) return true
  const check = checkOf(name, wait)
  if (!wait.isAny) return check(resultOf(end)).length === 0
  const { signal, data } = resultOf(end) as { signal: string; data: Json }
  return wait.signals.includes(signal) && check(data).length === 0
}

const resultOf = ({ result }: CallResult): Json => (result.ok ? result.value : null)
