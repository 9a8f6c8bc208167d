import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { greeter, inFolder, newCli } from '../cli/cli.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.mjs', import.meta.url))

const cli = newCli()
afterAll(cli.remove)

/** Starts `dev`, which has no time limit. That it ends with npm is in `../cli/fresh-clone.slow.test.ts`. */
function develop(folder: string) {
  const { DYNAMODB_ENDPOINT: _, ...environment } = process.env
  const child = spawn(process.execPath, [MAIN, 'dev', folder], {
    cwd: cli.folder,
    env: { ...environment, DATA_DIR: cli.dataDir, PORT: '0' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  /** End of the text of the last call. */
  let seen = 0
  return {
    /** Waits until the text has been printed after the one of the last call. */
    async until(text: string | RegExp): Promise<void> {
      const findEnd = () => {
        const printed = output.slice(seen)
        const [found, index] =
          text instanceof RegExp
            ? [text.exec(printed)?.[0] ?? '', printed.search(text)]
            : [text, printed.indexOf(text)]
        return index < 0 ? 0 : seen + index + found.length
      }
      seen = await vi.waitUntil(findEnd).catch(() => {
        throw new Error(`${text} is missing in:\n${output.slice(seen)}`)
      })
    },
    answer: (line: string) => void child.stdin.write(`${line}\n`),
    closeInput: () => void child.stdin.end(),
    async stop(): Promise<number | null> {
      child.kill('SIGINT')
      const [code] = await once(child, 'close')
      return code
    },
  }
}

type Entry = { action: string; target: { id: string }; changes: { versionId?: string } }

/** The changes of an agent, newest first. */
const auditOf = (agent: string): Promise<Entry[]> => cli.json(['audit', '--agent', agent])

const CODE = (greeting: string) =>
  `import { mark } from '../../shared/mark.ts'\n\nexport default ({ name }: { name: string }) => ({ said: '${greeting} ' + name + mark })\n`

describe('dev', () => {
  it('publishes a draft and runs the case after each change, also of imported files', async () => {
    const cases = "- { name: greets, input: { name: Ada }, expect: { equals: { said: 'Hi Ada!' } } }\n"
    cli.write({ 'shared/mark.ts': "export const mark = '!'\n" })
    cli.write(inFolder('work/hello', { ...greeter('x'), 'agent.ts': CODE('Hello'), 'cases.yaml': cases }))
    const dev = develop('work/hello')
    try {
      await dev.until(
        /^hello: draft [0-9a-f-]{36}\ncase "greets"\n.*^ {4}\/said\n {6}expected {2}"Hi Ada!"\n {6}actual {4}"Hello Ada!"$/ms,
      )
      await dev.until('Waiting for changes')

      cli.write({ 'work/hello/agent.ts': CODE('Hi') })
      await dev.until('passed in')

      // Like an editor that replaces the file.
      writeFileSync(join(cli.folder, 'shared/new.ts'), "export const mark = '?'\n")
      renameSync(join(cli.folder, 'shared/new.ts'), join(cli.folder, 'shared/mark.ts'))
      await dev.until('actual    "Hi Ada?"')

      cli.write({ 'work/hello/agent.ts': 'export default (\n' })
      await dev.until(/work\/hello\/agent\.ts:2:1: Unexpected end of file/)

      // Wrong types stop neither the draft nor the run.
      cli.write({ 'work/hello/agent.ts': CODE('Hi').replace('name +', 'name.size +') })
      await dev.until(
        /(?=.*work\/hello\/agent\.ts:3:\d+: Property 'size' does not exist on type 'string'\.).*actual {4}"Hi undefined\?"/s,
      )

      cli.write({ 'shared/mark.ts': "export const mark = '!'\n", 'work/hello/agent.ts': CODE('Hi') })
      await dev.until('passed in')
    } finally {
      expect(await dev.stop()).toBe(130)
    }
    const [draft, ...others] = await cli.json(['versions', 'hello'])
    expect([draft.status, others]).toEqual(['DRAFT', []])
    const changes = await auditOf('hello')
    const published = changes.filter(({ action }) => action === 'agent.publish')
    const deleted = changes.filter(({ action }) => action === 'version.delete')
    expect([changes.length, deleted.length]).toEqual([2 * published.length - 1, published.length - 1])
    expect(published[0]).toMatchObject({
      ...{ actor: { kind: 'cli' }, source: { interface: 'CLI' }, result: 'SUCCEEDED' },
      changes: { slug: 'hello', draft: true, versionId: draft.id, isNew: true },
    })
    const versions = published.map(({ changes }) => changes.versionId)
    expect(deleted.map(({ target }) => target.id)).toEqual(versions.slice(1))
  })

  it('deletes no draft of somebody else', async () => {
    cli.write(inFolder('work/shared', greeter('One')))
    const other = await cli.json(['publish', 'work/shared', '--draft'])
    const versionIds = async () =>
      (await cli.json(['versions', 'shared'])).map(({ id }: { id: string }) => id)
    cli.write(inFolder('work/shared', greeter('Two')))
    const dev = develop('work/shared')
    await dev.until('Waiting for changes')
    cli.write(inFolder('work/shared', greeter('Four')))
    await dev.until(/draft[\s\S]*Waiting for changes/)
    await dev.stop()
    expect(await versionIds()).toEqual([expect.any(String), other.versionId])
  })

  it('asks how a run that waits goes on, unless its case says it', async () => {
    const waits = (then: string) => `export default async (_: unknown, context: {
  waitForApproval: (name: string, options: object) => Promise<{ decision: string; note: string | null }>
  waitForSignal: (name: string, options: object) => Promise<unknown>
  sleep: (name: string, seconds: number) => Promise<null>
}) => {
  ${then}
}
`
    const asks = waits(`await context.sleep('cooling off', 86_400)
  const { decision, note } = await context.waitForApproval('refund', { title: 'Refund?', data: { usd: 5 } })
  return { said: decision + note + JSON.stringify(await context.waitForSignal('paid', { timeoutSeconds: 60 })) }`)
    const files = { ...greeter('x'), 'agent.ts': asks, 'cases.yaml': '- { name: a, input: { name: Ada } }\n' }
    cli.write(inFolder('work/waits', files))
    const dev = develop('work/waits')
    try {
      await dev.until('Waits for the approval refund: Refund?')
      dev.answer('y fine')
      await dev.until('Waits for the signal paid')
      dev.answer('{"n": 1}')
      await dev.until('"said": "approvefine{\\"n\\":1}"')

      // A change stops the run that waits, and its question.
      const signals = 'signals: { paid: [2] }, approvals: { refund: reject }'
      cli.write({ 'work/waits/agent.ts': asks.replace('86_400', '3') })
      await dev.until('Waits for the approval refund: Refund?')
      cli.write({ 'work/waits/cases.yaml': `- { name: b, input: { name: Ada }, ${signals} }\n` })
      await dev.until('case "b"')
      await dev.until('"said": "rejectnull2"')

      // Without an input, it says how others can answer.
      dev.closeInput()
      cli.write({ 'work/waits/cases.yaml': '- { name: c, input: { name: Ada } }\n' })
      await dev.until(/npx agent-execution approve \S+ \S+\n {2}npx agent-execution reject/)
    } finally {
      expect(await dev.stop()).toBe(130)
    }
    const decided = await cli.json(['audit', '--action', 'approval.decide'])
    expect(decided).toMatchObject([
      { actor: { kind: 'cli' }, changes: { decision: 'reject', isEdited: false }, result: 'SUCCEEDED' },
      { changes: { decision: 'approve', isEdited: false }, result: 'SUCCEEDED' },
    ])
    const open = await cli.json(['open', 'list'])
    expect(open.open).toBe(0)
  })
})
