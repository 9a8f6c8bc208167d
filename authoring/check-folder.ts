import { type FolderProblem, findCodeFile, type LoadedAgent } from '../lib/agents/load-folder.ts'
import { loadAgent } from '../local/load-agent.ts'
import { readCases, type TestCase } from './cases/case-file.ts'
import { typeCheck } from './type-check.ts'

/** `warnings`: what the environment lacks for a run. */
export type CheckResult = { warnings: FolderProblem[] } & (
  | { agent: LoadedAgent; cases: TestCase[]; problems: [] }
  | { agent: null; cases: []; problems: FolderProblem[] }
)

/**
 * Reads, checks, bundles and loads the agent in a folder with its test cases.
 * @param options.types whether to check the types of the code
 */
export async function checkFolder(folder: string, { types }: { types: boolean }): Promise<CheckResult> {
  const [loaded, caseFile] = await Promise.all([loadAgent(folder, process.env), readCases(folder)])
  const { agent, warnings } = loaded
  const codeFile = findCodeFile(folder)
  const typeProblems =
    agent && codeFile && types ? await typeCheck({ codeFile, document: agent.document }) : []
  const problems = [...loaded.problems, ...typeProblems, ...caseFile.problems]
  return agent && problems.length === 0
    ? { agent, cases: caseFile.cases, problems: [], warnings }
    : { agent: null, cases: [], problems, warnings }
}
