/** Agents whose output says what their waits and steps returned, and what ends their waits. */
export type Scenario = {
  name: ScenarioName
  code: string
  /** Names of the signals that it takes, in order. */
  signals: string[]
  approval: string | null
}

export const SCENARIO_NAMES = ['short sleep', 'sleep', 'signal', 'approval', 'parallel', 'sequence'] as const
export type ScenarioName = (typeof SCENARIO_NAMES)[number]

/** Longer than the recovery from any fault takes, in seconds. */
export const TIMEOUT_SECONDS = 86_400

const between = (body: string) => `
export default async (input, context) => {
  const before = await context.step('before', () => Math.random())
  ${body}
  const after = await context.step('after', () => Math.random())
  return { before, after, ...waited }
}`

const timeout = `timeoutSeconds: ${TIMEOUT_SECONDS}`
const approval = `context.waitForApproval('ask', { title: 'May I?', ${timeout} })`

const BODIES: Record<ScenarioName, Pick<Scenario, 'signals' | 'approval'> & { body: string }> = {
  'short sleep': {
    body: `const waited = { nap: await context.sleep('nap', 60) }`,
    signals: [],
    approval: null,
  },
  sleep: {
    body: `const waited = { nap: await context.sleep('nap', ${TIMEOUT_SECONDS}) }`,
    signals: [],
    approval: null,
  },
  signal: {
    body: `const waited = { signals: [await context.waitForSignal('go', { ${timeout} })] }`,
    signals: ['go'],
    approval: null,
  },
  approval: { body: `const waited = { approval: await ${approval} }`, signals: [], approval: 'ask' },
  parallel: {
    body: `
      const [signal, approval] = await Promise.all([context.waitForSignal('go', { ${timeout} }), ${approval}])
      const waited = { signals: [signal], approval }`,
    signals: ['go'],
    approval: 'ask',
  },
  sequence: {
    body: `
      const signals = []
      for (const i of [1, 2]) {
        const next = await context.waitForAny('next ' + i, { signals: ['go', 'stop'], ${timeout} })
        signals.push(next && next.data)
      }
      await context.sleep('nap', 30)
      const waited = { signals }`,
    signals: ['go', 'stop'],
    approval: null,
  },
}

export const SCENARIOS = SCENARIO_NAMES.map((name): Scenario => {
  const { body, ...scenario } = BODIES[name]
  return { name, code: between(body), ...scenario }
})
