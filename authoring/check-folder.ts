import { type FolderProblem, findCodeFile, type LoadedAgent } from '../lib/agents/load-folder.ts'
import type { Environment } from '../lib/environment.ts'
import { loadAgent } from '../local/load-agent.ts'
import { readCases, type TestCase } from './cases/case-file.ts'
import { typeCheck } from './type-check.ts'

/** `warnings`: what the environment lacks for a run. */
export type CheckResult = { warnings: FolderProblem[] } & (
  | { agent: LoadedAgent; cases: TestCase[]; problems: [] }
  | { agent: null; cases: []; problems: FolderProblem[] }
)

type Options = {
  /** Whether to check the types of the code; true by default. */
  types?: boolean
  environment?: Environment
}

/** Reads, checks, bundles and loads the agent in a folder, with the types of its code and its test cases. */
export async function checkFolder(
  folder: string,
  { types = true, environment = process.env }: Options = {},
): Promise<CheckResult> {
  const [loaded, caseFile] = await Promise.all([loadAgent(folder, environment), readCases(folder)])
  const { agent, warnings } = loaded
  const codeFile = findCodeFile(folder)
  const typeProblems =
    agent && codeFile && types ? await typeCheck({ codeFile, document: agent.document }) : []
  const problems = [...loaded.problems, ...typeProblems, ...caseFile.problems]
  return agent && problems.length === 0
    ? { agent, cases: caseFile.cases, problems: [], warnings }
    : { agent: null, cases: [], problems, warnings }
}
