import { nextInTime, type OpenWait } from '../waits/open-waits.ts'
import type { Answer } from '../waits/run-through-waits.ts'
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

  /** What the keys of the case answer. */
  take(open: OpenWait[]): [OpenWait, Answer][] {
    return open.flatMap((wait): [OpenWait, Answer][] => {
      if (this.given.has(keyOf(wait))) return []
      const answer = this.find(wait)
      this.given.set(keyOf(wait), answer)
      return answer && answer.kind !== 'time' ? [[wait, answer]] : []
    })
  }

  /**
   * The waits that end because nothing answers them in time: the first one of each execution. Each has a time of its
   * own, so that a run with parallel agents does the same each time.
   * @throws WaitNotAnswered with the key to add
   */
  timeOut(open: OpenWait[]): [OpenWait, Answer][] {
    const groups = [...Map.groupBy(open, ({ executionIds: [id] }) => id).values()]
    const next = groups.flatMap((waits) => nextInTime(waits) ?? waits[0] ?? [])
    const ending = next.filter(
      (wait) => wait.until !== null && (wait.kind !== 'approval' || this.answerTo(wait)?.kind === 'time'),
    )
    const [first] = next
    if (ending.length === 0 && first) throw new WaitNotAnswered(this.explain(first))
    return ending.map((wait) => [wait, { kind: 'time' }])
  }

  /** Whether the case has a key for a wait, or it is one that only time ends. */
  knows(wait: OpenWait): boolean {
    const { approvals = {}, signals = {} } = this.testCase
    if (wait.kind === 'approval') return this.answerTo(wait) !== null || Object.hasOwn(approvals, wait.name)
    return wait.kind !== 'signal' || (wait.signals ?? []).some((name) => Object.hasOwn(signals, name))
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

  private answerTo(wait: OpenWait): Answer | null {
    return this.given.get(keyOf(wait)) ?? null
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

  private explain({ kind, name, signals: names = [] }: OpenWait): string {
    const { approvals = {}, signals = {} } = this.testCase
    if (kind === 'approval') {
      const [given, quoted] = [approvals[name], JSON.stringify(name)]
      return Array.isArray(given)
        ? `the run waits for the approval ${quoted} once more: approvals has ${given.length} decisions for it`
        : `the run waits for the approval ${quoted}: add approvals: { ${quoted}: approve } to the case`
    }
    const [first = name] = names
    const given = signals[first]
    const hint = given
      ? `signals has ${given.length} for it`
      : `add signals: { ${first}: [null] } to the case`
    return `the run waits for the signal ${names.join(' or ')}, without a timeout: ${hint}`
  }

  private describeUnused(key: 'approvals' | 'signals', name: string, given: number): string[] {
    const used = this.used.get(`${key} ${name}`) ?? 0
    if (used >= given) return []
    const what = key === 'approvals' ? 'approval' : 'signal'
    const times = used === 0 ? 'did not wait' : `waited only ${used === 1 ? 'once' : `${used} times`}`
    return [`the run ${times} for the ${what} ${JSON.stringify(name)} (${key})`]
  }
}

const keyOf = ({ executionIds: [executionId], id, step }: OpenWait) => `${executionId} ${id ?? step}`

function toAnswer(given: CaseApproval): Answer {
  const { decision, note, input } = typeof given === 'string' ? { decision: given } : given
  return decision === 'timeout' ? { kind: 'time' } : { kind: 'decision', decision, note, input }
}
