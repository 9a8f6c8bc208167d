import { afterAll, describe, expect, it } from 'vitest'
import { greeter, inFolder, newCli } from '../cli/cli.ts'

const cli = newCli()
afterAll(cli.remove)

describe('check and publish', () => {
  const EXPORT = 'export default ({ name }: { name: string }) => ({ said: name })\n'
  const THROWING = `import { said } from '../shared/greeting.ts'\n\nif (said) throw new Error('no config')\n${EXPORT}`

  it.each([
    ['throws', THROWING, 'loaded/agent.ts:3:17: cannot be loaded: no config'],
    [
      'exits',
      `process.exit(0)\n${EXPORT}`,
      'loaded/agent.ts:1:9: cannot be loaded: The agent called process.exit(0).',
    ],
    [
      'rejects',
      `void Promise.reject(new Error('nobody'))\n${EXPORT}`,
      'loaded/agent.ts:1:21: cannot be loaded: nobody',
    ],
    [
      'exports something else',
      'export default 42 as unknown as () => { said: string }\n',
      'loaded/agent.ts:1:1: must default-export a function run(input, context)',
    ],
  ])('reports code that %s when it is loaded', async (_, code, problem) => {
    cli.write({
      'shared/greeting.ts': "export const said: string = 'Hi'\n",
      ...inFolder('loaded', { ...greeter('x'), 'agent.ts': code }),
    })
    const { code: exit, stderr, stdout } = await cli.run(['publish', 'loaded', '--no-types'])
    expect({ exit, stdout, stderr }).toEqual({
      exit: 1,
      stdout: '',
      stderr: `${problem}\nPublish failed: 1 problem.\n`,
    })
  })

  it('warns about variables that are unset, also if the code needs them', async () => {
    const code = `if (!process.env.GREETING) throw new Error('no greeting')\n${EXPORT}`
    cli.write(inFolder('loaded', { ...greeter('x', 'env: [GREETING]'), 'agent.ts': code }))
    const { code: exit, stderr } = await cli.run(['publish', 'loaded', '--no-types'])
    expect(exit).toBe(0)
    expect(stderr.trimEnd().split('\n')).toEqual([
      'loaded/agent.md:7:1: env: warning: GREETING is not set in this environment',
      'loaded/agent.ts:1:34: warning: cannot be loaded: no greeting (unset: GREETING)',
    ])
    const environment = { GREETING: 'Hi' }
    expect((await cli.run(['publish', 'loaded', '--no-types'], { environment })).stderr).toBe('')
  })

  it('warns about secrets and models that are not set', async () => {
    const document = [
      '---',
      'title: Shop',
      'description: Answers questions.',
      'input: { text: { type: string } }',
      'output: { text: { type: string } }',
      'model: openai/gpt-5',
      'tools:',
      '  - name: get_order',
      '    description: Looks an order up.',
      '    input: { id: { type: string } }',
      '    http:',
      '      method: GET',
      '      url: https://shop.example/orders/{id}',
      `      headers: { Authorization: "Bearer $\{secret:SHOP_KEY}" }`,
      '---',
      'Answer.',
      '',
    ].join('\n')
    cli.write({
      'shop/agent.md': document,
      'plain/agent.md': document.replace(/model:.*\n/, '').replace(/tools:[\s\S]*?---/, '---'),
    })
    const environment = { OPENAI_API_KEY: '', SHOP_KEY: '', DEFAULT_MODEL: '' }
    const { code, stderr, stdout } = await cli.run(['check', 'shop'], { environment })
    expect([code, stdout]).toEqual([0, 'shop is valid.\n'])
    expect(stderr.trimEnd().split('\n')).toEqual([
      'shop/agent.md:14:1: tools.get_order: warning: the secret SHOP_KEY is not set in this environment',
      'shop/agent.md:6:1: model: warning: Cannot use the model openai/gpt-5: the environment variable OPENAI_API_KEY is not set.',
    ])
    const set = { OPENAI_API_KEY: 'sk-1', SHOP_KEY: 'k', DEFAULT_MODEL: '' }
    expect((await cli.json(['check', 'shop'], { environment: set })).warnings).toEqual([])
    expect((await cli.json(['check', 'plain'], { environment })).warnings).toMatchObject([
      {
        field: 'model',
        message: 'the document names no model, and DEFAULT_MODEL is not set in this environment',
      },
    ])
  })
})
