import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { greeter, inFolder, newCli } from '../cli/cli.ts'

const cli = newCli()

const SAMPLE = new URL('../../examples/agents/faithful/', import.meta.url)

describe('check', () => {
  afterAll(cli.remove)

  const read = (file: string) => readFileSync(join(cli.folder, file), 'utf8')

  describe('init', () => {
    it.each(['code', 'model', 'remote', 'scorer'])(
      'creates a %s agent that passes every check',
      async (kind) => {
        const slug = `new-${kind}`
        const { folder, files } = await cli.json(['init', slug, `--${kind}`])
        expect(folder).toBe(`agents/${slug}`)
        expect(files).toEqual(expect.arrayContaining(['agent.md', 'cases.yaml']))
        expect(await cli.json(['check', folder])).toMatchObject({ slug, problems: [] })
      },
    )

    it('writes the types that check would write', async () => {
      const before = read('agents/new-code/agent.types.ts')
      writeFileSync(join(cli.folder, 'agents/new-code/agent.types.ts'), 'export {}\n')
      await cli.json(['check', 'agents/new-code'])
      expect(read('agents/new-code/agent.types.ts')).toBe(before)
    })

    it('writes the scorer of the samples', async () => {
      await cli.json(['init', 'faithful', '--scorer'])
      for (const file of ['agent.md', 'cases.yaml'])
        expect(read(`agents/faithful/${file}`)).toBe(readFileSync(new URL(file, SAMPLE), 'utf8'))
    })

    it('overwrites nothing', async () => {
      expect(await cli.run(['init', 'new-code'])).toEqual({
        code: 1,
        stdout: '',
        stderr: 'agents/new-code already exists.\n',
      })
    })
  })

  describe('check', () => {
    it('reports problems of code and cases together, with file, line and column', async () => {
      const code = [
        "import type { Input } from './agent.types.ts'",
        "import { suffix } from '../shared.ts'",
        '',
        'export default ({ name }: Input) => ({ said: name.size + suffix })',
        '',
      ].join('\n')
      cli.write({ 'shared.ts': 'export const suffix: string = 1\n' })
      cli.write(inFolder('typed', { ...greeter('x'), 'agent.ts': code }))
      cli.write({
        'typed/cases.yaml': '- name: a\n  input: { name: Ada }\n  expct: {}\n- name: a\n  input: []\n',
      })
      const { code: exit, stderr } = await cli.run(['check', 'typed'])
      expect(exit).toBe(1)
      expect(stderr.trimEnd().split('\n').sort()).toEqual([
        'Check failed: 5 problems.',
        "shared.ts:1:14: Type 'number' is not assignable to type 'string'.",
        "typed/agent.ts:4:51: Property 'size' does not exist on type 'string'.",
        'typed/cases.yaml:3:3: "a".expct: unknown field; did you mean "expect"?',
        'typed/cases.yaml:4:3: case 2.name: is used twice: "a"; the names of cases must be unique',
        'typed/cases.yaml:5:3: "a".input: must be an object',
      ])
    })

    it('compares the default export with the schemas, whatever types it uses', async () => {
      const code = '// Comment\n\nexport default (input: { name: number }) => ({ said: input.name })\n'
      cli.write(inFolder('mismatch', { ...greeter('x'), 'agent.ts': code }))
      const { stderr } = await cli.run(['check', 'mismatch'])
      expect(stderr).toMatch(
        /^mismatch\/agent\.ts:3:1: the default export does not match the schemas of agent\.md \(type Run of agent\.types\.ts\):\n/,
      )
      expect(stderr).toContain("Type 'string' is not assignable to type 'number'.")
    })

    it('stops a publish unless types are not checked', async () => {
      const { stderr } = await cli.run(['publish', 'mismatch'])
      expect(stderr).toMatch(/^mismatch\/agent\.ts:3:1: [\s\S]+\nPublish failed: 1 problem\.\n$/)
      expect(await cli.json(['list'])).toEqual([])
      expect(await cli.json(['publish', 'mismatch', '--no-types'])).toMatchObject({ slug: 'mismatch' })
      expect((await cli.run(['check', 'mismatch', '--no-types'])).stdout).toBe('mismatch is valid.\n')
    })

    it('does not check the types of JavaScript', async () => {
      const { 'agent.ts': _, ...files } = greeter('x')
      cli.write(inFolder('plain', { ...files, 'agent.js': 'export default () => ({ said: 1 })\n' }))
      expect((await cli.run(['check', 'plain'])).code).toBe(0)
      expect(existsSync(join(cli.folder, 'plain/agent.types.ts'))).toBe(false)
    })
  })
})

describe('load', () => {
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
})
