/** What a step found. `figures`: what it measured, by name. */
export type Findings = { problems?: string[]; figures?: Record<string, string | number> }

export type StepReport = Required<Findings> & { step: string; seconds: number }

export type ProofReport = { passed: boolean; startedAt: string; steps: StepReport[] }

/** @typeParam Service what the deployment returns and the checks need */
export type ProofPlan<Service> = {
  deploy: () => Promise<Service>
  /** In this order. The signal asks a check to stop early. */
  checks: Record<string, (service: Service, signal: AbortSignal) => Promise<Findings>>
  /** Removes what was deployed, also when it was only in part. */
  destroy: () => Promise<Findings>
  /** Whether to leave the service in place. */
  keep: boolean
  /** Aborted by the user: the proof fails, and destroys what it deployed. */
  signal: AbortSignal
  onProgress: (line: string) => void
}

/**
 * Deploys a service, checks it and destroys it, whatever happens before. A check that fails does not stop the others.
 * Never throws.
 */
export async function runProof<Service>(plan: ProofPlan<Service>): Promise<ProofReport> {
  const { checks, keep, signal, onProgress } = plan
  const startedAt = new Date().toISOString()
  const steps: StepReport[] = []

  async function run<T>(step: string, work: () => Promise<T>, toFindings: (result: T) => Findings) {
    onProgress(`${step} …`)
    const begunAt = performance.now()
    let result: T | undefined
    let findings: Findings
    try {
      result = await work()
      findings = toFindings(result)
    } catch (error) {
      findings = { problems: [error instanceof Error ? error.message : String(error)] }
    }
    const { problems = [], figures = {} } = findings
    const seconds = (performance.now() - begunAt) / 1000
    steps.push({ step, seconds, problems, figures })
    onProgress(`${step}: ${problems.length === 0 ? 'passed' : `FAILED: ${problems[0]}`}`)
    return result
  }

  const service = await run('deploy', plan.deploy, () => ({}))
  if (service !== undefined) {
    for (const [name, check] of Object.entries(checks)) {
      if (signal.aborted) break
      await run(
        name,
        () => check(service, signal),
        (findings) => findings,
      )
    }
  }
  if (!keep) await run('destroy', plan.destroy, (findings) => findings)
  if (signal.aborted)
    steps.push({ step: 'interrupted', seconds: 0, problems: ['The proof was stopped.'], figures: {} })
  return { passed: steps.every(({ problems }) => problems.length === 0), startedAt, steps }
}
