import { describePolicies } from './policies';

describePolicies('the laptop');
