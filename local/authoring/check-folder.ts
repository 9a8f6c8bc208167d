import {
  type FolderProblem,
  findCodeFile,
  type LoadedAgent,
  loadFolder,
} from '../../lib/agents/load-folder.ts'
import { readCases, type TestCase } from '../cases/case-file.ts'
import { typeCheck } from './type-check.ts'

export type CheckResult =
  | { agent: LoadedAgent; cases: TestCase[]; problems: [] }
  | { agent: null; cases: []; problems: FolderProblem[] }

/** Reads, checks and bundles the agent in a folder, with the types of its code unless `types` is false, and its test cases. */
export async function checkFolder(folder: string, { types = true } = {}): Promise<CheckResult> {
  const [loaded, caseFile] = await Promise.all([loadFolder(folder), readCases(folder)])
  const { agent } = loaded
  const codeFile = findCodeFile(folder)
  const typeProblems =
    agent && codeFile && types ? await typeCheck({ codeFile, document: agent.document }) : []
  const problems = [...loaded.problems, ...typeProblems, ...caseFile.problems]
  return agent && problems.length === 0
    ? { agent, cases: caseFile.cases, problems: [] }
    : { agent: null, cases: [], problems }
}
