import { openColumns } from '../../support/service/token-columns.ts'
import { describeIsolation } from './isolation-matrix.ts'

describeIsolation(openColumns)
