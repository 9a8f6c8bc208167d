import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { DOCUMENT_FILE } from '../core/agent.ts'
import { bundleCode } from './code/bundle-code.ts'
import { type CheckedDocument, checkDocument, type DocumentProblem } from './document/check-document.ts'
import { START } from './document/yaml-file.ts'
import type { PublishableAgent } from './lifecycle/publish-agent.ts'

const CODE_FILES = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs']

/** `file` is relative to the working directory. Without a field, the sentence starts with the file. */
export type FolderProblem = DocumentProblem & { file: string }

/** `text`: the `agent.md`. `sources`: every source file of the code, including those of packages. */
export type LoadedAgent = PublishableAgent & { text: string; sources: string[] }

export type LoadResult = { agent: LoadedAgent; problems: [] } | { agent: null; problems: FolderProblem[] }

/** The path of the code of an agent; undefined if its folder has none. */
export const findCodeFile = (folder: string): string | undefined =>
  CODE_FILES.map((name) => join(resolve(folder), name)).find(existsSync)

/** Reads, checks and bundles the agent in a folder. */
export async function loadFolder(folder: string): Promise<LoadResult> {
  const path = resolve(folder)
  const codeFile = findCodeFile(path)
  const text = await readDocument(path)
  const [checked, bundled] = await Promise.all([
    typeof text === 'string' ? checkText(text, path, codeFile) : { document: null, problems: [text] },
    codeFile ? bundleCode(codeFile) : null,
  ])
  const problems: FolderProblem[] = [
    ...checked.problems.map((problem) => ({ ...problem, file: join(path, DOCUMENT_FILE) })),
    ...(bundled?.problems ?? []).map((problem) => ({ ...problem, field: null })),
  ].map((problem) => ({ ...problem, file: relative(process.cwd(), resolve(problem.file)) }))
  if (problems.length > 0 || !checked.document || typeof text !== 'string') return { agent: null, problems }
  const { code = null, sources = [] } = bundled ?? {}
  return { agent: { document: checked.document, code, text, sources }, problems: [] }
}

/** `agents/foo/agent.md:7:12: input.total.type: is required`, a format that editors turn into links. */
export function formatProblem({ file, line, column, field, message }: FolderProblem): string {
  return `${file}:${line}:${column}: ${field ? `${field}: ` : ''}${message}`
}

/** The text of the document, or the problem with the file. */
async function readDocument(path: string): Promise<string | DocumentProblem> {
  const problem = (message: string): DocumentProblem => ({ ...START, field: null, message })
  try {
    const bytes = await readFile(join(path, DOCUMENT_FILE))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return problem('must be UTF-8 text')
    if (!existsSync(path)) return problem('not found: the folder does not exist')
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return problem('not found: the path is a file, not a folder')
    return problem(code === 'ENOENT' ? `not found: an agent folder must contain ${DOCUMENT_FILE}` : message)
  }
}

const checkText = (text: string, path: string, codeFile: string | undefined): Promise<CheckedDocument> =>
  checkDocument(text, {
    defaultSlug: basename(path),
    hasCode: codeFile !== undefined,
    withCode: `the folder contains ${basename(codeFile ?? '')}`,
    withoutCode: `the folder contains none of ${CODE_FILES.join(', ')}`,
  })
