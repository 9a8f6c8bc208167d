import { execFile } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { loadFolder } from '../../../lib/agents/load-folder.ts'
import { agentsOpenApi } from '../../../lib/contract/agents-openapi.ts'
import { openApiDocument } from '../../../lib/contract/openapi.ts'
import { findMissingJava } from '../../aws/emulators/start-server.ts'
import { hasPython, installPython } from '../../support/processes/python-environment.ts'

/** Maven keeps it in its own cache. */
const VERSION = '7.17.0'
const GENERATOR = `org.openapitools:openapi-generator-cli:${VERSION}`
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy'
const MAVEN = ['--batch-mode', '--quiet']

const AGENTS = fileURLToPath(new URL('../../../agents', import.meta.url))
const PYTHON_REQUIREMENTS = new URL('generated-clients.txt', import.meta.url)

const TIMEOUT_MS = 300_000
const MAX_OUTPUT_BYTES = 10_000_000

type Target = {
  language: string
  options: string[]
  command: string
  args: string[]
}

const TARGETS: Target[] = [
  {
    language: 'Java',
    options: ['--generator-name', 'java', '--library', 'native'],
    command: 'mvn',
    args: [...MAVEN, '-Dmaven.test.skip=true', 'compile'],
  },
  { language: 'Go', options: ['--generator-name', 'go'], command: 'go', args: ['build', './...'] },
]

/** Schemas that generators find hard: one that refers to itself, and names that are keywords or no identifiers. */
const HARD = {
  slug: 'class',
  title: 'Hard',
  description: 'A "quoted" description with */ and \n.',
  inputSchema: {
    type: 'object',
    properties: {
      class: { type: 'string', enum: ['a b', 'a-b', ''], description: 'One\n*/ "quoted" \\ of `three`.' },
      'order-id': { type: ['string', 'null'] },
      tree: { $ref: '#/$defs/node' },
    },
    required: ['class'],
    $defs: {
      node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } } },
    },
  },
  outputSchema: {
    type: 'object',
    properties: { value: { anyOf: [{ type: 'integer' }, { type: 'string' }] } },
  },
}

/** The typed document of the agents of the repository, and of a hard one. */
async function agentsDocument(): Promise<object> {
  const loaded = await Promise.all(readdirSync(AGENTS).map((slug) => loadFolder(join(AGENTS, slug))))
  const agents = loaded.flatMap(({ agent }) => {
    if (!agent) return []
    const { slug, title, description, input, output } = agent.document
    return [{ slug, title, description, inputSchema: input, outputSchema: output }]
  })
  return agentsOpenApi([...agents, HARD], 'Agents')
}

/**
 * Generates clients for Java and Go from the OpenAPI documents of the service and of its agents, and for Python from
 * the latter, and compiles them. Prints what it skips, and why.
 */
export async function compileGeneratedClients(folder: string): Promise<void> {
  const documents = { service: openApiDocument(), agents: await agentsDocument() }
  for (const [name, document] of Object.entries(documents))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(document))
  await compilePython(folder)
  const missing = await findMissingJava()
  if (missing.length > 0) return skip('Java and Go', `OpenAPI Generator needs ${missing.join(' and ')}`)
  const generator = join(folder, `openapi-generator-cli-${VERSION}.jar`)
  try {
    await run('mvn', [...MAVEN, COPY, `-Dartifact=${GENERATOR}`, `-DoutputDirectory=${folder}`])
  } catch (error) {
    return skip('Java and Go', `Maven cannot download ${GENERATOR}: ${firstLine(error)}`)
  }
  for (const target of TARGETS)
    for (const name of Object.keys(documents)) await compile(target, name, { folder, generator })
}

async function compilePython(folder: string): Promise<void> {
  if (!(await hasPython())) return skip('Python', 'it needs Python with venv')
  const commandOf = await installPython(PYTHON_REQUIREMENTS)
  const output = join(folder, 'python')
  const generate = [
    'generate',
    '--path',
    join(folder, 'agents.json'),
    '--output-path',
    output,
    '--fail-on-warning',
  ]
  // It calls a formatter of its environment by name.
  const PATH = `${commandOf('')}:${process.env.PATH}`
  await run(commandOf('openapi-python-client'), [...generate, '--meta', 'none'], {
    env: { ...process.env, PATH },
  })
  await run(commandOf('mypy'), ['--strict', output])
  console.log('Python: the generated client of agents has types')
}

async function compile(
  { language, options, command, args }: Target,
  name: string,
  { folder, generator }: { folder: string; generator: string },
): Promise<void> {
  if (!(await isInstalled(command))) return skip(language, `it needs ${command}`)
  const output = join(folder, `${language}-${name}`)
  const sources = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'
  const generate = [
    'generate',
    '--input-spec',
    join(folder, `${name}.json`),
    '--output',
    output,
    '--global-property',
    sources,
  ]
  await run('java', ['-jar', generator, ...generate, ...options])
  await run(command, args, { cwd: output })
  console.log(`${language}: the generated client of ${name} compiles`)
}

const skip = (what: string, reason: string) => console.log(`${what}: skipped, ${reason}`)

const isInstalled = (command: string): Promise<boolean> =>
  run(command, [command === 'go' ? 'version' : '-version']).then(
    () => true,
    () => false,
  )

/** @throws an Error with what the program printed */
async function run(
  command: string,
  args: string[],
  given: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, ...given }
  await promisify(execFile)(command, args, options).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`${command} failed: ${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`)
    },
  )
}

const firstLine = (error: unknown): string => (error as Error).message.split('\n')[0] ?? ''
