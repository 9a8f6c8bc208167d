import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { bundleCode } from './bundle-code.ts'
import type { AgentDocument } from './document.ts'
import { DOCUMENT_FILE } from './document-file.ts'
import { findBudgetProblem } from './find-budget-problem.ts'
import { type ParsedDocument, parseDocument } from './parse-document.ts'

const CODE_FILES = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs']

/**
 * Bytes of an `agent.md`, also with its YAML aliases expanded. The agent item stores the document twice, and a DynamoDB
 * item can have 400 KB.
 */
const MAX_DOCUMENT_BYTES = 150_000

/** `file` is relative to the working directory. The message continues a sentence that starts with the field or file. */
export type FolderProblem = {
  file: string
  line: number
  column?: number
  field: string | null
  message: string
}

/** A valid agent, bundled and ready to publish. */
export type LoadedAgent = {
  document: AgentDocument
  code: string | null
  digest: string
  /** Every source file of the code, including those of packages. */
  sources: string[]
}

export type LoadResult = { agent: LoadedAgent; problems: [] } | { agent: null; problems: FolderProblem[] }

/** The path of the code of an agent; undefined if its folder has none. */
export const findCodeFile = (folder: string): string | undefined =>
  CODE_FILES.map((name) => join(resolve(folder), name)).find(existsSync)

/** Reads, checks and bundles the agent in a folder. */
export async function loadFolder(folder: string): Promise<LoadResult> {
  const path = resolve(folder)
  const codeFile = findCodeFile(path)
  const [read, bundled] = await Promise.all([readDocument(path), codeFile ? bundleCode(codeFile) : null])
  const problems: FolderProblem[] = [
    ...(await findProblems(read, codeFile)).map((problem) => ({
      ...problem,
      file: join(path, DOCUMENT_FILE),
    })),
    ...(bundled?.problems ?? []).map((problem) => ({ ...problem, field: null })),
  ].map((problem) => ({ ...problem, file: relative(process.cwd(), resolve(problem.file)) }))
  if (problems.length > 0 || typeof read === 'string' || !read.document) return { agent: null, problems }

  const { document } = read
  const code = bundled?.code ?? null
  const sources = bundled?.sources ?? []
  return { agent: { document, code, digest: toDigest(document, code), sources }, problems: [] }
}

/** `agents/foo/agent.md:7:12: input.total.type: is required`, a format that editors link to the place. */
export function formatProblem({ file, line, column, field, message }: FolderProblem): string {
  return `${file}:${line}:${column === undefined ? '' : `${column}:`} ${field ? `${field}: ` : ''}${message}`
}

/** The parsed document, or the problem with the file. */
async function readDocument(path: string): Promise<ParsedDocument | string> {
  try {
    const bytes = await readFile(join(path, DOCUMENT_FILE))
    if (bytes.length > MAX_DOCUMENT_BYTES) return `must not be larger than ${MAX_DOCUMENT_BYTES} bytes`
    return parseDocument(new TextDecoder('utf-8', { fatal: true }).decode(bytes), basename(path))
  } catch (error) {
    if (error instanceof TypeError) return 'must be UTF-8 text'
    if (!existsSync(path)) return 'not found: the folder does not exist'
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return 'not found: the path is a file, not a folder'
    return code === 'ENOENT' ? `not found: an agent folder must contain ${DOCUMENT_FILE}` : message
  }
}

async function findProblems(read: ParsedDocument | string, codeFile: string | undefined) {
  if (typeof read === 'string') return [{ line: 1, field: null, message: read }]
  if (!read.document) return read.problems
  const { document, getLine } = read
  const conflict = findConflict(document, codeFile && basename(codeFile))
  if (conflict) return [{ line: getLine([conflict.field]), ...conflict }]
  const budget = await findBudgetProblem(document)
  if (budget) {
    const { path, message } = budget
    return [{ line: getLine(path), field: path.join('.'), message }]
  }
  const bytes = Buffer.byteLength(JSON.stringify(document))
  const message = `expands to ${bytes} bytes; the limit is ${MAX_DOCUMENT_BYTES}`
  return bytes > MAX_DOCUMENT_BYTES ? [{ line: 1, field: null, message }] : []
}

/** A code agent has code and no model settings; a model agent has instructions and no code. */
function findConflict(document: AgentDocument, codeFile: string | undefined) {
  const { code, model, tools, instructions } = document
  if (code && !codeFile) {
    return { field: 'code', message: `is true, but the folder contains none of ${CODE_FILES.join(', ')}` }
  }
  if (!code && codeFile)
    return { field: 'code', message: `must be true because the folder contains ${codeFile}` }
  if (code && model) return { field: 'model', message: 'must be omitted: a code agent has no model' }
  if (code && tools.length > 0)
    return { field: 'tools', message: 'must be omitted: a code agent has no model that could call tools' }
  if (!code && instructions === '') {
    return { field: 'instructions', message: 'are required: add text for the model below the front matter' }
  }
  return null
}

function toDigest(document: AgentDocument, code: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([document, code]))
    .digest('hex')
}
