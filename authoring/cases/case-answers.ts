import type { OpenWait } from '../waits/open-waits.ts'
import type { Answer, AnswerWaits } from '../waits/run-through-waits.ts'
import type { CaseApproval, TestCase } from './case-file.ts'

/** The case does not say how a wait ends. */
export class WaitNotAnswered extends Error {}

/**
 * Answers the waits of one run as its case says: by name, in order. What is answered comes first; then time, in the
 * order of what it ends.
 */
export class CaseAnswers {
  private readonly testCase: Pick<TestCase, 'approvals' | 'signals'>
  /** How many waits of a name have been answered. */
  private readonly used = new Map<string, number>()
  /** By execution and step or approval: a wait gets one answer, however often the run is suspended. */
  private readonly given = new Map<string, Answer | null>()

  constructor(testCase: Pick<TestCase, 'approvals' | 'signals'>) {
    this.testCase = testCase
  }

  /** @throws WaitNotAnswered with the key to add */
  answer: AnswerWaits = async (open) => {
    const answers = open.flatMap((wait): [OpenWait, Answer][] => {
      const key = `${wait.executionIds[0]} ${wait.id ?? wait.step}`
      if (this.given.has(key)) return []
      const answer = this.find(wait)
      this.given.set(key, answer)
      return answer && answer.kind !== 'time' ? [[wait, answer]] : []
    })
    return answers.length > 0 ? answers : [[this.nextInTime(open), { kind: 'time' }]]
  }

  /** Keys of the case, and their entries, that no wait has needed. */
  get unused(): string[] {
    const { approvals = {}, signals = {} } = this.testCase
    return [
      ...Object.entries(approvals).flatMap(([name, given]) =>
        this.describeUnused('approvals', name, Array.isArray(given) ? given.length : 1),
      ),
      ...Object.entries(signals).flatMap(([name, data]) => this.describeUnused('signals', name, data.length)),
    ]
  }

  private find(wait: OpenWait): Answer | null {
    if (wait.kind === 'approval') return this.findDecision(wait.name)
    return wait.kind === 'signal' ? this.findSignal(wait.signals ?? []) : null
  }

  private findDecision(name: string): Answer | null {
    const approvals = this.testCase.approvals ?? {}
    const given = Object.hasOwn(approvals, name) ? approvals[name] : undefined
    const number = this.count('approvals', name)
    const found = Array.isArray(given) ? given[number] : given
    return found === undefined ? null : toAnswer(found)
  }

  /** The first key of the case that has data left: it says in which order the signals arrive. */
  private findSignal(names: string[]): Answer | null {
    for (const [name, data] of Object.entries(this.testCase.signals ?? {})) {
      if (!names.includes(name) || (this.used.get(`signals ${name}`) ?? 0) >= data.length) continue
      return { kind: 'signal', name, data: data[this.count('signals', name)] ?? null }
    }
    return null
  }

  /** How many were used before this one. */
  private count(key: 'approvals' | 'signals', name: string): number {
    const id = `${key} ${name}`
    const number = this.used.get(id) ?? 0
    this.used.set(id, number + 1)
    return number
  }

  private nextInTime(open: OpenWait[]): OpenWait {
    const [next] = open.toSorted((a, b) => timeOf(a) - timeOf(b))
    if (!next) throw new WaitNotAnswered('The run waits for nothing that a case can answer.')
    const { kind, name, executionIds, id, step } = next
    const answer = this.given.get(`${executionIds[0]} ${id ?? step}`)
    if (kind === 'approval' && answer?.kind !== 'time') throw new WaitNotAnswered(this.explainApproval(name))
    if (kind === 'signal' && next.until === null) throw new WaitNotAnswered(this.explainSignal(next))
    return next
  }

  private explainApproval(name: string): string {
    const given = this.testCase.approvals?.[name]
    const quoted = JSON.stringify(name)
    return Array.isArray(given)
      ? `the run waits for the approval ${quoted} once more: approvals has ${given.length} decisions for it`
      : `the run waits for the approval ${quoted}: add approvals: { ${quoted}: approve } to the case`
  }

  private explainSignal({ signals = [], name }: OpenWait): string {
    const [first = name] = signals
    const given = this.testCase.signals?.[first]
    const hint = given
      ? `signals has ${given.length} for it`
      : `add signals: { ${first}: [null] } to the case`
    return `the run waits for the signal ${signals.join(' or ')}, without a timeout: ${hint}`
  }

  private describeUnused(key: 'approvals' | 'signals', name: string, given: number): string[] {
    const used = this.used.get(`${key} ${name}`) ?? 0
    if (used >= given) return []
    const what = key === 'approvals' ? 'approval' : 'signal'
    const times = used === 0 ? 'did not wait' : `waited only ${used === 1 ? 'once' : `${used} times`}`
    return [`the run ${times} for the ${what} ${JSON.stringify(name)} (${key})`]
  }
}

const timeOf = ({ until }: OpenWait) => (until === null ? Number.POSITIVE_INFINITY : Date.parse(until))

function toAnswer(given: CaseApproval): Answer {
  const { decision, note, input } = typeof given === 'string' ? { decision: given } : given
  return decision === 'timeout' ? { kind: 'time' } : { kind: 'decision', decision, note, input }
}
