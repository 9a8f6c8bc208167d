import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { TYPES_FILE, writeAgentTypes, writeCallerTypes } from '../lib/agents/code/write-agent-types.ts'
import type { AgentDocument } from '../lib/agents/document/document.ts'
import { START } from '../lib/agents/document/yaml-file.ts'
import type { FolderProblem } from '../lib/agents/load-folder.ts'
import { createTemporaryFolder } from '../local/temporary-folders.ts'

const require = createRequire(import.meta.url)

/** Used if no `tsconfig.json` is above the agent. */
const DEFAULT_OPTIONS = {
  strict: true,
  target: 'es2024',
  lib: ['es2024'],
  resolveJsonModule: true,
  skipLibCheck: true,
}

/** Imports are resolved like esbuild resolves them when it bundles the code. */
const FIXED_OPTIONS = {
  noEmit: true,
  composite: false,
  incremental: false,
  rootDir: null,
  module: 'preserve',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
}

/** `tsc --pretty false`: `agents/foo/agent.ts(3,7): error TS2322: Type 'number' …`; continued lines are indented. */
const MESSAGE = /^(.+?)\((\d+),(\d+)\): error TS\d+: (.*(?:\n[ \t]+.*)*)/gm

type Options = { codeFile: string; document: AgentDocument; signal?: AbortSignal | undefined }

/**
 * Writes the types of the document next to the code, and checks the code with TypeScript: its own types, and whether
 * its default export fits the document. Code in JavaScript is not checked.
 * @throws the reason of `signal` if it aborts
 */
export async function typeCheck({ codeFile, document, signal }: Options): Promise<FolderProblem[]> {
  if (!/^\.m?ts$/.test(extname(codeFile))) return []
  const problem = await writeTypes(join(dirname(codeFile), TYPES_FILE), writeAgentTypes(document))
  if (problem) return [problem]
  const compiler = findCompiler(codeFile)
  if (!compiler) return [toProblem(codeFile, NO_COMPILER)]
  // The compiler prints real paths.
  const folder = await realpath(await createTemporaryFolder('aes-types'))
  try {
    const checkFile = await writeProject(folder, codeFile)
    const output = await run(compiler, ['--project', folder, '--pretty', 'false'], signal)
    return readMessages(output, { checkFile, codeFile, code: await readFile(codeFile, 'utf8') })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Updates the types beside the document of a model agent, unless they were deleted. */
export async function updateCallerTypes(folder: string, document: AgentDocument): Promise<FolderProblem[]> {
  const file = join(folder, TYPES_FILE)
  const problem = existsSync(file) ? await writeTypes(file, writeCallerTypes(document)) : null
  return problem ? [problem] : []
}

/** Leaves a file that is up to date untouched, so that watchers see no change. */
async function writeTypes(file: string, text: string): Promise<FolderProblem | null> {
  if ((await readFile(file, 'utf8').catch(() => null)) === text) return null
  return writeFile(file, text).then(
    () => null,
    ({ message }: Error) => toProblem(file, `is out of date and cannot be written: ${message}`),
  )
}

const NO_COMPILER =
  'types are not checked: TypeScript is not installed. Run npm install --save-dev typescript @types/node'

/** The types could not be checked, which does not make them wrong. */
export const isUnchecked = ({ message }: FolderProblem): boolean => message === NO_COMPILER

/** The compiler of the agent's project, otherwise of this one. */
function findCompiler(codeFile: string): string | null {
  try {
    const paths = [dirname(codeFile), import.meta.dirname]
    return join(dirname(require.resolve('typescript/package.json', { paths })), 'bin/tsc')
  } catch {
    return null
  }
}

/** A project of the code and a file that compares its default export with the document. Returns that file's path. */
async function writeProject(folder: string, codeFile: string): Promise<string> {
  const base = findAbove(dirname(codeFile), 'tsconfig.json')
  const checkFile = join(folder, 'check.ts')
  const typesFile = join(dirname(codeFile), TYPES_FILE)
  // The packages of the service, for agents outside of it.
  const typeRoots = [base ?? codeFile, import.meta.filename].map((file) => join(findPackages(file), '@types'))
  const hasNode = typeRoots.some((folder) => existsSync(join(folder, 'node')))
  const config = {
    ...(base && { extends: base }),
    compilerOptions: {
      ...(!base && DEFAULT_OPTIONS),
      ...FIXED_OPTIONS,
      types: hasNode ? ['node'] : [],
      typeRoots,
    },
    files: [codeFile, checkFile],
    include: [],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const imports = `import run from ${JSON.stringify(codeFile)}
import type { Run } from ${JSON.stringify(typesFile)}`
  await writeFile(checkFile, `${imports}\nrun satisfies Run\n`)
  return checkFile
}

const findPackages = (file: string): string => findAbove(dirname(file), 'node_modules') ?? 'node_modules'

/** The path of the nearest file or folder with this name in a folder or above it. */
function findAbove(folder: string, name: string): string | null {
  const path = join(folder, name)
  if (existsSync(path)) return path
  return dirname(folder) === folder ? null : findAbove(dirname(folder), name)
}

/** What the compiler prints. It fails if there are errors. @throws the reason of `signal` if it aborts */
async function run(compiler: string, args: string[], signal: AbortSignal | undefined): Promise<string> {
  const child = spawn(process.execPath, [compiler, ...args], { stdio: ['ignore', 'pipe', 'inherit'], signal })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw error
  })
  return output
}

type Files = { checkFile: string; codeFile: string; code: string }

function readMessages(output: string, files: Files): FolderProblem[] {
  const problems = [...output.matchAll(MESSAGE)].map(([, file = '', line, column, message = '']) => {
    const path = resolve(file)
    if (path === files.checkFile) return toMismatch(message, files)
    return { ...toProblem(path, message), line: Number(line), column: Number(column) }
  })
  if (problems.length > 0 || output.trim() === '') return problems
  return [toProblem(files.codeFile, `cannot be checked: ${output.trim()}`)]
}

const DEFAULT_EXPORT = /^export\s+default\b|\bas\s+default\b/m

/** The default export does not fit the document. The message of the compiler mentions the line of the check. */
function toMismatch(message: string, { codeFile, code }: Files): FolderProblem {
  const before = code.slice(0, DEFAULT_EXPORT.exec(code)?.index ?? 0).split('\n')
  const details = message.split('\n').slice(1).join('\n')
  const summary = `the default export does not match the schemas of agent.md (type Run of ${TYPES_FILE})`
  return {
    ...toProblem(codeFile, details ? `${summary}:\n${details}` : `${summary}: ${message}`),
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
  }
}

const toProblem = (file: string, message: string): FolderProblem => ({
  file: relative(process.cwd(), file),
  ...START,
  field: null,
  message,
})
