type Context = {
  step: <T>(name: string, fn: () => T) => Promise<T>
  sleep: (name: string, seconds: number) => Promise<unknown>
  waitForSignal: (name: string, options: { timeoutSeconds: number }) => Promise<unknown>
  waitForApproval: (name: string, options: { title: string; data: object }) => Promise<unknown>
}

const WAITS: Record<string, (context: Context) => Promise<unknown>> = {
  sleep: (context) => context.sleep('nap', 1_800),
  signal: (context) => context.waitForSignal('paid', { timeoutSeconds: 86_400 }),
  approval: (context) =>
    context.waitForApproval('refund', { title: 'Refund 200 dollars?', data: { usd: 200 } }),
}

export default async function run({ kind }: { kind: string }, context: Context) {
  const before = await context.step('before', () => Date.now())
  const waited = await WAITS[kind]?.(context)
  return { before, waited: JSON.stringify(waited) }
}
